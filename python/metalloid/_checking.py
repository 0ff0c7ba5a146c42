"""The checker: what is wrong with kernels, found while they run (docs/checker.md)."""

from __future__ import annotations

import dataclasses
import json
import operator
import sys
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from . import _checked_processes, _core, _errors
from ._checked_processes import Options, ProcessFindings

_open: list[Check] = []  # the newest last
_most_of_64_bits = 2**64 - 1


class CheckError(AssertionError):
    """Kernels did something wrong inside of ``metalloid.check()``.

    Attributes:
        findings: all that was found, notes too.
    """

    def __init__(self, message: str, findings: list[Finding]) -> None:
        super().__init__(message)
        self.findings = findings


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that is wrong with a kernel. ``str()`` of it is the report, with the lines of the source.

    Attributes:
        kind: name of the class: "threadgroup-race", "out-of-bounds", ...
        severity: "error", "warning" or "note"; notes do not count.
        kernel: its name.
        launch: who launched it, where the host says so (labels of Metal's encoders and command buffers), or None.
        message: one sentence.
        fix: what would mend it; empty where that is not plain.
        memory: name of the argument or variable, or None.
        index: of the argument's buffer, or None.
        byte_offset: where in the memory, bytes, or None.
        element: the same in elements, or None.
        steps: what one thread did, or the two that do not go together: dicts with action, place, thread and value.
        count: how often it was found in these places.
        report: the text.
    """

    kind: str
    severity: str
    kernel: str
    launch: str | None
    message: str
    fix: str
    memory: str | None
    index: int | None
    byte_offset: int | None
    element: int | None
    steps: tuple[Mapping[str, Any], ...]
    count: int
    report: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        return self.report


class Check:
    """What ``check()`` returns: a context manager that checks every kernel which the process runs inside of it."""

    def __init__(self, options: Options, raises: bool) -> None:
        self._options = options
        self._raises = raises
        self._session: _core.CheckSession | None = None
        self._processes: list[ProcessFindings] = []
        self._dispatches_inside = 0

    def __enter__(self) -> Check:
        try:
            self._session = _core.CheckSession(*self._options)
        except _core.Error as error:  # a name that there is not
            raise ValueError(str(error)) from None
        if _open:
            _open[-1]._take_from_processes()
        _open.append(self)
        _checked_processes.announce(self._options)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                _wait_for_kernels()
        finally:
            self._close()
        if kind is None and self._raises and self._open().counts():
            raise CheckError(self.report(), self.findings)

    def _close(self) -> None:
        self._open().close()
        self._take_from_processes()
        if self in _open:
            _open.remove(self)
        if _open:
            _open[-1]._dispatches_inside += self.dispatches + self._dispatches_inside
        _checked_processes.announce(_open[-1]._options if _open else None)

    def _take_from_processes(self) -> None:
        self._processes += _checked_processes.take()

    def _open(self) -> _core.CheckSession:
        if self._session is None:
            raise RuntimeError("metalloid.check() is a context manager: with metalloid.check() as session: ...")
        return self._session

    @property
    def findings(self) -> list[Finding]:
        """What was found so far, in the order in which it was found."""
        session = self._open()
        found = json.loads(session.json())["findings"]
        own = [_finding(one, text) for one, text in zip(found, session.texts(False), strict=True)]
        return own + [_finding(*each) for other in self._processes for each in zip(other.findings, other.texts, strict=True)]

    @property
    def failed(self) -> bool:
        """Whether anything counts: errors and warnings do, notes do not."""
        others = (finding["severity"] for other in self._processes for finding in other.findings)
        return self._open().counts() or any(severity != "note" for severity in others)

    @property
    def dispatches(self) -> int:
        """How many dispatches were checked; not those of blocks inside of this one."""
        return self._open().dispatches() + sum(other.dispatches for other in self._processes)

    def summary(self) -> str:
        """How much was found in how many dispatches, in a few words."""
        return summary_of(**self.counts())

    def counts(self) -> dict[str, int]:
        findings = self.findings
        notes = sum(finding.severity == "note" for finding in findings)
        return {
            "findings": len(findings) - notes,
            "notes": notes,
            "dispatches": self.dispatches,
            "in_processes": sum(other.dispatches for other in self._processes),
            "processes": len({other.process for other in self._processes}),
            "inside": self._dispatches_inside,
        }

    def report(self, colour: bool = False) -> str:
        """The text of all findings, and how many did not fit into ``max_findings``."""
        session = self._open()
        parts = list(session.texts(colour))
        lost = session.lost()
        for other in self._processes:
            lost += other.lost
            if other.texts:
                parts += [f"in process {other.process} ({other.command}):\n", *other.texts]
        if lost:
            parts.append(f"{lost} more findings\n")
        return "\n".join(parts)

    def json(self) -> str:
        """All findings as JSON; docs/checker.md has the schema."""
        own = self._open().json()
        if not self._processes:
            return own
        document = json.loads(own)
        document["findings"] += [finding for other in self._processes for finding in other.findings]
        return json.dumps(document, indent=2) + "\n"

    def sarif(self) -> str:
        """All findings as SARIF 2.1.0, for code review."""
        own = self._open().sarif()
        if not self._processes:
            return own
        log = json.loads(own)
        log["runs"] += [run for other in self._processes for run in other.runs if run["results"]]
        return json.dumps(log, indent=2) + "\n"


def summary_of(
    findings: int, dispatches: int, notes: int = 0, in_processes: int = 0, processes: int = 0, inside: int = 0
) -> str:  # fmt: skip
    """``2 findings in 12 dispatches (4 of them in 2 child processes); 1 note``. Says so where nothing was checked.

    Args:
        findings: those that count, which notes do not.
        in_processes: how many of the dispatches were in child processes.
        inside: dispatches in blocks of ``metalloid.check()`` of the code that is checked.
    """
    apart = f"{_count(inside, 'dispatch', 'es')} in blocks of metalloid.check() of its own" if inside else ""
    if not dispatches and not findings and not notes:
        return f"no kernel was checked, but for {apart}" if apart else "no kernel was checked: none ran"
    what = "no findings" if findings == 0 else _count(findings, "finding")
    there = f"{in_processes} of them in {_count(processes, 'child process', 'es')}" if processes else ""
    details = "; ".join(part for part in (there, apart and f"besides {apart}") if part)
    said = f"{what} in {_count(dispatches, 'dispatch', 'es')}" + (f" ({details})" if details else "")
    return said + (f"; {_count(notes, 'note')}" if notes else "")


def _count(number: int, what: str, plural: str = "s") -> str:
    return f"{number} {what}{'' if number == 1 else plural}"


def check(
    *,
    only: str | Iterable[str] = (),
    also: str | Iterable[str] = (),
    skip: str | Iterable[str] = (),
    strict: bool = False,
    schedule: int = 0,
    max_findings: int = 100,
    suppress: str | Iterable[str] = (),
    raises: bool = True,
) -> Check:
    """Checks every kernel that the process runs inside of a ``with`` block, whichever interface calls it.

    A block inside of another one takes over: what is found there does not count outside.

    >>> with metalloid.check():
    ...     library.blur(x, y)

    Args:
        only: look for these classes alone; names as ``"threadgroup-race"``, ``"race"`` for all races, ``"all"``.
        also: look for these, too (``"not-finite"`` is off unless asked for).
        skip: do not look for these.
        strict: threads that have returned count at barriers.
        schedule: permutes the order of threads, simdgroups and threadgroups; 0: as they are numbered.
        max_findings: more are counted only.
        suppress: patterns as ``"race:tile.metal:12"``.
        raises: raise at the end of the block if anything was found that counts.

    Raises:
        ValueError: a class has no such name, or a number is too large.
        TypeError: an argument is of another type.
        CheckError: at the end of the block, unless an exception leaves it.
    """
    if not isinstance(strict, bool):
        raise TypeError(f"strict must be True or False, not {strict!r}")
    classes = [names_of(name, names) for name, names in (("only", only), ("also", also), ("skip", skip))]
    numbers = [_number("schedule", schedule), _number("max_findings", max_findings)]
    return Check((*classes, strict, *numbers, names_of("suppress", suppress)), raises)  # type: ignore[arg-type]


def names_of(argument: str, names: str | Iterable[str]) -> list[str]:
    if isinstance(names, str):
        return [name.strip() for name in names.split(",") if name.strip()]
    listed = list(names) if isinstance(names, Iterable) else None
    if listed is None or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"{argument} must be a name or a list of names, not {names!r}")
    return listed


def _number(argument: str, value: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument} must be a whole number, not {value!r}") from None
    if not 0 <= number <= _most_of_64_bits:
        raise ValueError(f"{argument} must be a whole number from 0 to 2**64 - 1, not {number}")
    return number


def _finding(found: dict[str, Any], report: str) -> Finding:
    found = dict(found)
    kind, steps = found.pop("class"), tuple(found.pop("steps"))
    return Finding(kind=kind, steps=steps, report=report, **found)


def _wait_for_kernels() -> None:
    """Of torch's device mps, whose stream has a thread of its own, and errors that kernels have reported."""
    torch = sys.modules.get("torch")
    if torch is not None and "metalloid.mps._install" in sys.modules:
        torch.mps.synchronize()
    mlx = sys.modules.get("mlx.core")
    if mlx is not None:
        mlx.synchronize()  # what async_eval has begun
    _errors.synchronize()
