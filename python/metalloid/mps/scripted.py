"""TorchScript: what runs in its interpreter passes no mode, so the results get their marks here."""

from __future__ import annotations

import functools
from typing import Any

import torch

from .device_mode import is_mps
from .tags import is_tagged, tag, tensors_in


def _is_on_mps(callee: Any, args: Any) -> bool:
    owner = getattr(callee, "owner", None)  # a method's module, which has parameters
    parameters = [] if owner is None else [value for _, value in torch._C.ParameterDict(owner).items()]
    return any(is_tagged(tensor) for tensor in [*tensors_in(args), *parameters])


def _tag_results(call: Any) -> Any:
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = call(self, *args, **kwargs)
        if _is_on_mps(self, (args, kwargs)):
            for tensor in tensors_in(result):
                tag(tensor)
        return result

    return called


def _loaded(load: Any) -> Any:
    @functools.wraps(load)
    def loaded(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not is_mps(map_location):
            return load(f, map_location, *args, **kwargs)
        module = load(f, "cpu", *args, **kwargs)
        for tensor in (*module.parameters(), *module.buffers()):
            tag(tensor)
        return module

    return loaded


def install() -> None:
    torch.jit.load = _loaded(torch.jit.load)
    for cls in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        cls.__call__ = _tag_results(cls.__call__)
