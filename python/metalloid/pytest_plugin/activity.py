"""What each test ran on the device mps: kernels of its own, PyTorch's operators as Metal kernels, others on the CPU."""

from __future__ import annotations

import collections
import json
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

Counts = dict[str, int]


class Fallbacks:
    """Operators that ran on the CPU since the last question."""

    def __init__(self) -> None:
        self._last: Mapping[str, int] = {}

    def take(self) -> Counts:
        plugin = sys.modules.get("metalloid.mps._plugin")
        if plugin is None or not plugin.device.cache_info().currsize:  # no test has used the device yet
            return {}
        last, now = self._last, plugin.device().fallbacks()
        self._last = now
        # A test may have set the counts to zero itself.
        since = {name: count - last.get(name, 0) for name, count in now.items()}
        return {name: count if count >= 0 else now[name] for name, count in since.items() if count}


def take_operators() -> Counts:
    """How often the Metal kernels of Metalloid's own operators ran since the last call, by the kernel's name."""
    core = sys.modules.get("metalloid._core")
    return core.take_operator_dispatches() if core is not None else {}


class Session:
    """All tests of a session, those of xdist's workers too.

    Attributes:
        tests: by test, "kernels", "operators" and "fallbacks", each with counts by name.
    """

    def __init__(self) -> None:
        self.tests: dict[str, dict[str, Counts]] = {}

    def add(self, test: str, activity: Mapping[str, Counts]) -> None:
        """Of one of a test's reports: of setup, call, teardown."""
        all_of_it = self.tests.setdefault(test, {"kernels": {}, "operators": {}, "fallbacks": {}})
        for kind, counts in activity.items():
            all_of_it[kind] = dict(collections.Counter(all_of_it[kind]) + collections.Counter(counts))

    def total(self, kind: str) -> Counts:
        """Counts over all tests, the most frequent first."""
        total: collections.Counter[str] = collections.Counter()
        for activity in self.tests.values():
            total.update(activity[kind])
        return dict(total.most_common())

    def write(self, path: pathlib.Path) -> None:
        content: dict[str, Any] = {
            "totals": {kind: self.total(kind) for kind in ("kernels", "operators", "fallbacks")},
            "tests": self.tests,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n")
