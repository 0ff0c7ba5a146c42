"""What kernels do wrong in the child processes of a checked one: they leave it in a folder, and the parent reads that.

A child that imports ``metalloid`` checks itself while METALLOID_CHECK stands in its environment; a forked one goes on with
a session of its own. What a process finds is lost if it ends by a signal or ``os._exit``.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ._checking import Check

variable = "METALLOID_CHECK"
_forks_are_watched = False
_kept: list[object] = []


class ChildFindings(NamedTuple):
    """Of one process.

    Attributes:
        process: its number.
        command: how it was started.
        report: the findings' text.
        findings: as in ``Check.json()``.
        runs: as in ``Check.sarif()``.
        dispatches: how many it checked.
        failed: whether anything counts.
    """

    process: int
    command: list[str]
    report: str
    findings: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    dispatches: int
    failed: bool


class ChildChecks:
    """In the parent: from here to ``close()`` child processes are checked.

    Args:
        options: of ``metalloid.check``.
    """

    def __init__(self, **options: Any) -> None:
        self._folder = tempfile.mkdtemp(prefix="metalloid-check-")
        self._process = os.getpid()
        self._others = os.environ.get(variable)
        os.environ[variable] = json.dumps({"folder": self._folder, "process": self._process, "options": options})
        watch_forks()

    def take(self) -> list[ChildFindings]:
        """What processes that have ended since the last call have left, by their numbers."""
        found = []
        for file in sorted(pathlib.Path(self._folder).glob("*.json")):
            found.append(ChildFindings(**json.loads(file.read_text(encoding="utf-8"))))
            file.unlink()
        return found

    def close(self) -> None:
        if os.getpid() != self._process:
            return
        if self._others is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = self._others
        shutil.rmtree(self._folder, ignore_errors=True)


def watch_forks() -> None:
    global _forks_are_watched
    if not _forks_are_watched:
        _forks_are_watched = True
        os.register_at_fork(after_in_child=begin)


def begin() -> None:
    """In a child: checks this process to its end, if its environment asks for it."""
    try:
        settings = json.loads(os.environ.get(variable, "null"))
        folder, parent, options = settings["folder"], settings["process"], settings["options"]
    except (ValueError, TypeError, KeyError):
        return
    if parent == os.getpid() or not os.path.isdir(folder):
        return
    from ._checking import check

    watch_forks()
    session = check(**options, raises=False)
    session.__enter__()
    own = os.getpid()

    def end() -> None:
        if os.getpid() == own and session not in _kept:
            _kept.append(session)
            _leave(session, folder)

    atexit.register(end)
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        # Its forked processes end without atexit's functions, and begin by forgetting what was to be done at the end.
        token = _Token()
        _kept.append(token)
        util.register_after_fork(token, lambda _: util.Finalize(None, end, exitpriority=-100))


class _Token:
    """What multiprocessing remembers as long as it lives."""


def _leave(session: Check, folder: str) -> None:
    try:
        session.__exit__(None, None, None)
    except Exception as error:  # what a kernel reported itself, and nobody waited for
        print(f"metalloid: {error}", file=sys.stderr)
    if not session.dispatches:
        return
    found = ChildFindings(
        os.getpid(), [str(word) for word in getattr(sys, "orig_argv", sys.argv)], session.report(),
        json.loads(session.json())["findings"], json.loads(session.sarif())["runs"], session.dispatches, session.failed,
    )  # fmt: skip
    with contextlib.suppress(OSError):  # the parent is gone
        file = pathlib.Path(folder) / f"{os.getpid()}.json"
        file.with_suffix(".part").write_text(json.dumps(found._asdict()), encoding="utf-8")
        file.with_suffix(".part").rename(file)
