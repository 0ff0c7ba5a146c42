"""What is known to go wrong when OpInfo runs on the device mps: tests/expected_operator_failures.yaml."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

FILE = pathlib.Path(__file__).resolve().parent.parent / "tests" / "expected_operator_failures.yaml"


_IN_ANY_LAYOUT = {"layout": ("output", "out=", "in place"), "layout gradient": ("gradient",)}


class Excuse(NamedTuple):
    """An entry.

    Attributes:
        operators: as OpInfo names them, with variants ("norm.nuc"), or overloads ("aten::copy_") for the test "launch".
        dtypes: none: all.
        tests: "output", "gradient", "layout", "layout gradient", "out=", "in place", "errors", "samples", "process",
            "launch". What is wrong in any layout may be wrong in all: "output" and the like are also "layout".
        reason: in words.
        sometimes: it may also pass, with fewer samples for instance.
    """

    operators: frozenset[str]
    dtypes: frozenset[str]
    tests: frozenset[str]
    reason: str
    sometimes: bool

    def covers(self, operator: str, dtype: str, test: str) -> bool:
        is_of = operator in self.operators and (not self.dtypes or dtype in self.dtypes)
        return is_of and (test in self.tests or not self.tests.isdisjoint(_IN_ANY_LAYOUT.get(test, ())))


def read() -> list[Excuse]:
    entries = yaml.safe_load(FILE.read_text()) or []
    return [
        Excuse(
            frozenset(_words(entry["operators"])), frozenset(_words(entry.get("dtypes"))),
            frozenset(str(entry.get("tests", "output")).split(", ")), entry["reason"], entry.get("sometimes", False),
        )
        for entry in entries
    ]  # fmt: skip


def _words(value: Any) -> list[str]:
    return str(value).split() if value else []


def excuse_for(result: dict[str, Any], test: str, excuses: Sequence[Excuse]) -> Excuse | None:
    return next((one for one in excuses if one.covers(result["op"], result["dtype"], test)), None)


def unexpected(result: dict[str, Any], excuses: Sequence[Excuse], all_samples: bool = True) -> list[str]:
    """Lines of what is wrong and not in the list, and of what is in it and right.

    Args:
        all_samples: else what fails for some of them may be right.
    """
    lines = []
    where = f"{result['op']}, {result['dtype']}"
    for test, count in result["compared"].items():
        right = result["right"].get(test, 0)
        excuse = excuse_for(result, test, excuses)
        if right < count and excuse is None:
            lines += [f"{where}, {test} ({count - right} of {count} wrong): {said}" for said in result["problems"].get(test, [""])[:2]]
        if right == count and excuse is not None and test in excuse.tests and all_samples and not excuse.sometimes:
            lines.append(f"{where}, {test}: it passes; it was expected to fail: {excuse.reason}")
    for name, (calls, launched) in result.get("overloads", {}).items():
        if calls > 0 and launched == 0 and not any(one.covers(name, result["dtype"], "launch") for one in excuses):
            lines.append(f"{where}: {name} is registered as Metal, but launched no kernel in {calls} calls")
    return lines
