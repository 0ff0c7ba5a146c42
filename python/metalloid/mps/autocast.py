"""torch.autocast("mps"): the operators run on the CPU, so the CPU's autocast has to be on as well, with the same type."""

from __future__ import annotations

from typing import Any

import torch


def install() -> None:
    cls = torch.amp.autocast_mode.autocast
    enter, leave = cls.__enter__, cls.__exit__

    def enter_both(self: Any) -> Any:
        result = enter(self)
        if self.device == "mps":
            inner = cls("cpu", dtype=self.fast_dtype, enabled=self._enabled, cache_enabled=self._cache_enabled)
            enter(inner)
            self.__dict__.setdefault("_on_cpu", []).append(inner)  # one object may be entered more than once
        return result

    def leave_both(self: Any, *exception: Any) -> Any:
        if self.device == "mps":
            leave(self._on_cpu.pop(), *exception)
        return leave(self, *exception)

    cls.__enter__, cls.__exit__ = enter_both, leave_both
