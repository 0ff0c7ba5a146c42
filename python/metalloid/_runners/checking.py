"""``--check`` of the runners: the whole script runs under the checker."""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._checking import Check

exit_findings = 4

usage = """
Options of the checker, in front of the script (docs/checker.md):
    --check                 report races, accesses out of bounds and more; exit status 4 if there is anything
    --check-strict          threads that have returned count at barriers
    --check-schedule SEED   another order of threads, simdgroups and threadgroups
    --check-json FILE       write what was found as JSON
    --check-sarif FILE      the same as SARIF 2.1.0
"""


@dataclasses.dataclass
class CheckOptions:
    wanted: bool = False
    strict: bool = False
    schedule: int = 0
    json: str | None = None
    sarif: str | None = None


def take_options(arguments: list[str]) -> tuple[CheckOptions, list[str]]:
    """The options among those in front of the script, and all others. A ValueError is a wrong option."""
    options, rest = CheckOptions(), list(arguments)
    others: list[str] = []
    while rest and rest[0].startswith("--"):
        name, equals, value = rest[0].partition("=")
        if not name.startswith("--check"):
            others.append(rest.pop(0))
            if not equals and rest and not rest[0].startswith("-") and name == "--macos":
                others.append(rest.pop(0))
            continue
        rest.pop(0)
        options.wanted = True
        if name == "--check":
            continue
        if name == "--check-strict":
            options.strict = True
            continue
        if name not in ("--check-schedule", "--check-json", "--check-sarif"):
            raise ValueError(f"unknown option {name}")
        if not equals:
            if not rest:
                raise ValueError(f"{name}: expected one argument")
            value = rest.pop(0)
        if name == "--check-schedule":
            if not value.isdecimal():
                raise ValueError(f"--check-schedule: {value!r} is no whole number")
            options.schedule = int(value)
        else:
            setattr(options, name.removeprefix("--check-"), value)
    return options, others + rest


class ScriptCheck:
    """A session around a script."""

    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._check: Check | None = None

    def begin(self) -> None:
        if not self._options.wanted:
            return
        from .._checking import check

        self._check = check(strict=self._options.strict, schedule=self._options.schedule, raises=False)
        self._check.__enter__()

    def end(self) -> bool:
        """Reports, and says whether anything counts."""
        if self._check is None:
            return False
        check, self._check = self._check, None
        try:
            check.__exit__(None, None, None)
        except Exception as error:  # what a kernel reported itself, and nobody waited for
            print(f"metalloid: {error}", file=sys.stderr)
        report, count = check.report(sys.stderr.isatty()), len(check.findings)
        if report:
            print(report, file=sys.stderr)
        what = "no findings" if count == 0 else f"{count} finding{'s' if count > 1 else ''}"
        dispatches = check.dispatches
        print(f"metalloid: {what} in {dispatches} dispatch{'es' if dispatches != 1 else ''}", file=sys.stderr)
        if self._options.json:
            pathlib.Path(self._options.json).write_text(check.json(), encoding="utf-8")
        if self._options.sarif:
            pathlib.Path(self._options.sarif).write_text(check.sarif(), encoding="utf-8")
        return check.failed
