"""Processes that a checked one starts or forks: METALLOID_CHECK gives them the options and a folder, where the library
leaves what it finds in them, at once and however they end (src/checker/inherited.h)."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Sequence
from typing import Any

variable = "METALLOID_CHECK"

Options = tuple[Sequence[str], Sequence[str], Sequence[str], bool, int, int, Sequence[str]]  # of _core.CheckSession


@dataclasses.dataclass
class ProcessFindings:
    """What one process has done since it was asked last.

    Attributes:
        dispatches: how many were checked.
        lost: findings that were counted only.
        findings: as the report for programs has them.
        texts: the same for people.
        runs: the same as SARIF.
    """

    process: str
    command: str = ""
    dispatches: int = 0
    lost: int = 0
    findings: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    texts: list[str] = dataclasses.field(default_factory=list)
    runs: list[dict[str, Any]] = dataclasses.field(default_factory=list)


class _Folder:
    """Of this process. Its forked children see it and leave it alone."""

    def __init__(self) -> None:
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="metalloid-check-"))
        self._process = os.getpid()
        self._before: dict[str, ProcessFindings] = {}

    def is_own(self) -> bool:
        return self._process == os.getpid()

    def take(self) -> list[ProcessFindings]:
        """What is new since the last call, of each process with something new."""
        names = sorted({file.stem for file in self.path.iterdir() if file.suffix in (".count", ".json")})
        return [new for name in names if (new := self._new_of(name)) is not None]

    def _new_of(self, name: str) -> ProcessFindings | None:
        now = ProcessFindings(name)
        try:
            now.dispatches = int((self.path / f"{name}.count").read_text())
        except (OSError, ValueError):
            pass  # a dispatch that was refused has findings alone
        try:
            told = json.loads((self.path / f"{name}.json").read_text(encoding="utf-8"))
            now.command, now.lost, now.findings, now.texts = (told[key] for key in ("command", "lost", "findings", "texts"))
            now.runs = told["sarif"]["runs"]
        except (OSError, ValueError):
            pass
        before = self._before.get(name, ProcessFindings(name))
        self._before[name] = now
        new = dataclasses.replace(
            now,
            process=name.partition("-")[0],
            dispatches=now.dispatches - before.dispatches,
            lost=now.lost - before.lost,
            findings=now.findings[len(before.findings) :],
            texts=now.texts[len(before.texts) :],
            runs=[{**run, "results": run.get("results", [])[len(before.findings) :]} for run in now.runs],
        )
        return new if new.dispatches or new.findings else None


_folder: _Folder | None = None


def share() -> None:
    """From now on processes that this one starts while it checks are checked, too."""
    global _folder
    if _folder is None or not _folder.is_own():
        _folder = _Folder()


def end() -> None:
    """Processes that still run write to standard error what they find."""
    global _folder
    if _folder is not None and _folder.is_own():
        announce(None)
        shutil.rmtree(_folder.path, ignore_errors=True)
        _folder = None


def take() -> list[ProcessFindings]:
    return _folder.take() if _folder is not None and _folder.is_own() else []


def announce(options: Options | None) -> None:
    """The options for processes that are started from now on; None: they are not checked."""
    if _folder is None or not _folder.is_own():
        return
    if options is None:
        os.environ.pop(variable, None)
        return
    only, also, skip, strict, schedule, most_findings, suppress = options
    lines = [f"folder={_folder.path}"]
    lines += [f"{name}={','.join(classes)}" for name, classes in (("only", only), ("also", also), ("skip", skip)) if classes]
    lines += [f"strict={int(strict)}", f"schedule={schedule}", f"most_findings={most_findings}"]
    lines += [f"suppress={pattern}" for pattern in suppress]
    os.environ[variable] = "\n".join(lines)
