"""``--check`` of the runners: the whole script runs under the checker."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import shlex
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._checking import Check
    from .._child_checks import ChildChecks, ChildFindings

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
        if name in ("--check", "--check-strict") and equals:
            raise ValueError(f"{name} takes no value")
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
            if not (value.isascii() and value.isdecimal()) or len(value) > 20 or int(value) >= 1 << 64:
                raise ValueError(f"--check-schedule: {value!r} is no whole number below 2^64")
            options.schedule = int(value)
        else:
            setattr(options, name.removeprefix("--check-"), value)
    return options, others + rest


class ScriptCheck:
    """Sessions around a script, and in its child processes."""

    def __init__(self, options: CheckOptions) -> None:
        self._options = options
        self._check: Check | None = None
        self._children: ChildChecks | None = None

    def begin(self) -> None:
        if not self._options.wanted:
            return
        from .._checking import check
        from .._child_checks import ChildChecks

        options = {"strict": self._options.strict, "schedule": self._options.schedule}
        self._check = check(**options, raises=False)
        self._check.__enter__()
        self._children = ChildChecks(**options)

    def end(self) -> int:
        """Reports; the exit status that this asks for, 0 for none."""
        if self._check is None or self._children is None:
            return 0
        for thread in threading.enumerate():  # as Python waits for them at its end
            if thread not in (threading.current_thread(), threading.main_thread()) and not thread.daemon:
                thread.join()
        check, self._check = self._check, None
        try:
            check.__exit__(None, None, None)
        except Exception as error:  # what a kernel reported itself, and nobody waited for
            print(f"metalloid: {error}", file=sys.stderr)
        children = self._children.take()
        self._children.close()
        report, count = check.report(sys.stderr.isatty()), len(check.findings)
        if report:
            print(report, file=sys.stderr)
        for child in children:
            count += len(child.findings)
            if child.report:
                print(f"metalloid: in process {child.process} ({shlex.join(child.command)}):", file=sys.stderr)
                print(child.report, file=sys.stderr)
        dispatches = check.dispatches + sum(child.dispatches for child in children)
        print(f"metalloid: {_summary(count, dispatches, len(children))}", file=sys.stderr)
        failed = check.failed or any(child.failed for child in children)
        is_written = self._write(check, children)
        return exit_findings if failed else 0 if is_written else 1

    def _write(self, check: Check, children: list[ChildFindings]) -> bool:
        """The files that were asked for; whether that was possible."""
        found, log = json.loads(check.json()), json.loads(check.sarif())
        for child in children:
            found["findings"] += child.findings
            log["runs"] += child.runs
        is_written = True
        for name, data in ((self._options.json, found), (self._options.sarif, log)):
            try:
                if name:
                    pathlib.Path(name).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
            except OSError as error:
                print(f"metalloid: {name} could not be written: {error.strerror}", file=sys.stderr)
                is_written = False
        return is_written


def _summary(findings: int, dispatches: int, children: int) -> str:
    if dispatches == 0:
        return "nothing was checked: no kernel ran"
    what = "no findings" if findings == 0 else f"{findings} finding{'s' if findings > 1 else ''}"
    where = f", {children} child process{'es' if children > 1 else ''} among them" if children else ""
    return f"{what} in {dispatches} dispatch{'es' if dispatches != 1 else ''}{where}"
