"""``--check`` of the runners: the whole script runs under the checker."""

from __future__ import annotations

import atexit
import dataclasses
import os
import pathlib
import sys
from collections.abc import Callable
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
        if name in ("--check", "--check-strict"):
            if equals:
                raise ValueError(f"{name} takes no value, and {value!r} is given")
            options.strict |= name == "--check-strict"
            continue
        if name not in ("--check-schedule", "--check-json", "--check-sarif"):
            raise ValueError(f"unknown option {name}")
        if not equals:
            if not rest:
                raise ValueError(f"{name}: expected one argument")
            value = rest.pop(0)
        if name == "--check-schedule":
            options.schedule = _seed(value)
        else:
            setattr(options, name.removeprefix("--check-"), value)
    return options, others + rest


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"--check-schedule: {text!r} is no whole number")
    if len(text) > 20 or int(text) >= 2**64:
        raise ValueError(f"--check-schedule: {text} is above 2**64 - 1")
    return int(text)


class ScriptCheck:
    """A session around a script, its threads, what runs at its exit, and the processes that it starts.

    Attributes:
        status: with which the script itself ends.
    """

    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._check: Check | None = None
        self._process = os.getpid()
        self.status = 0

    def begin(self) -> None:
        if not self._options.wanted:
            return
        from .. import _checked_processes
        from .._checking import check

        _checked_processes.share()
        self._check = check(strict=self._options.strict, schedule=self._options.schedule, raises=False)
        self._check.__enter__()
        atexit.register(self._end)  # the first one, which runs last

    def _end(self) -> None:
        """Reports, and gives the process its status."""
        if self._check is None or os.getpid() != self._process:  # a forked child, whose findings the parent tells
            return
        check, self._check = self._check, None
        try:
            check.__exit__(None, None, None)
        except Exception as error:  # what a kernel reported itself, and nobody waited for
            print(f"metalloid: {error}", file=sys.stderr)
        if report := check.report(sys.stderr is not None and sys.stderr.isatty()):
            print(report, file=sys.stderr)
        print(f"metalloid: {check.summary()}", file=sys.stderr)
        files = ((self._options.json, check.json), (self._options.sarif, check.sarif))
        written = [_write(path, text) for path, text in files]
        from .. import _checked_processes, _core

        _checked_processes.end()
        status = exit_findings if check.failed else 0 if all(written) else 1
        if status and not self.status:
            _core.end_with(status)


def _write(path: str | None, text: Callable[[], str]) -> bool:
    """Whether the file, if one is wanted, is there."""
    if path is None:
        return True
    try:
        pathlib.Path(path).write_text(text(), encoding="utf-8")
    except (OSError, ValueError) as error:  # a name with a zero in it
        print(f"metalloid: {path} could not be written: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return False
    return True
