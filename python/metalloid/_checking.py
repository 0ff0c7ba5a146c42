"""The checker: what is wrong with kernels, found while they run (docs/checker.md)."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from . import _core, _errors


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

    def __init__(self, options: tuple[Any, ...], raises: bool) -> None:
        self._options = options
        self._raises = raises
        self._session: _core.CheckSession | None = None

    def __enter__(self) -> Check:
        try:
            self._session = _core.CheckSession(*self._options)
        except _core.Error as error:  # a name that there is not, or another session
            raise ValueError(str(error)) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                _wait_for_kernels()
        finally:
            self._open().close()
        if kind is None and self._raises and self._open().counts():
            raise CheckError(self.report(), self.findings)

    def _open(self) -> _core.CheckSession:
        if self._session is None:
            raise RuntimeError("metalloid.check() is a context manager: with metalloid.check() as session: ...")
        return self._session

    @property
    def findings(self) -> list[Finding]:
        """What was found so far, in the order in which it was found."""
        session = self._open()
        found = json.loads(session.json())["findings"]
        return [_finding(one, text) for one, text in zip(found, session.texts(False), strict=True)]

    @property
    def failed(self) -> bool:
        """Whether anything counts: errors and warnings do, notes do not."""
        return self._open().counts()

    @property
    def dispatches(self) -> int:
        """How many dispatches were checked."""
        return self._open().dispatches()

    def report(self, colour: bool = False) -> str:
        """The text of all findings, and how many did not fit into ``max_findings``."""
        session = self._open()
        parts = list(session.texts(colour))
        if session.lost():
            parts.append(f"{session.lost()} more findings\n")
        return "\n".join(parts)

    def json(self) -> str:
        """All findings as JSON; docs/checker.md has the schema."""
        return self._open().json()

    def sarif(self) -> str:
        """All findings as SARIF 2.1.0, for code review."""
        return self._open().sarif()


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
        ValueError: a class has no such name; there is a session already.
        CheckError: at the end of the block, unless an exception leaves it.
    """
    if schedule < 0 or max_findings < 0:
        raise ValueError("schedule and max_findings are whole numbers from 0 on")
    options = (_names(only), _names(also), _names(skip), strict, schedule, max_findings, _names(suppress))
    return Check(options, raises)


def _names(names: str | Iterable[str]) -> list[str]:
    if isinstance(names, str):
        return [name.strip() for name in names.split(",") if name.strip()]
    return [str(name) for name in names]


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
