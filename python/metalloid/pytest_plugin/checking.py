"""``--metalloid-check``: each test runs inside a session of the checker, and fails if that finds anything."""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Generator
from typing import Any

import pytest


_FINDINGS = "metalloid_check_runs"  # of a worker's output


class Checks:
    """Hooks of one session."""

    def __init__(self, skip: str, sarif: str | None) -> None:
        self._skip = skip
        self._sarif = sarif
        self._runs: list[dict[str, Any]] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        mark = item.get_closest_marker("metalloid_check")
        options = dict(mark.kwargs) if mark else {}
        if mark and (mark.args or not set(options) <= {"only", "also", "skip", "strict", "schedule", "suppress"}):
            pytest.fail(f"metalloid_check takes the options of metalloid.check, not {mark.args or options}", pytrace=False)
        marked = options.pop("skip", "")
        skip = ",".join(name for name in (self._skip, *([marked] if isinstance(marked, str) else marked)) if name)
        from .._checking import check

        session = check(**options, skip=skip, raises=False)
        session.__enter__()
        outcome = yield
        try:
            session.__exit__(None, None, None)
        except Exception as error:  # that a kernel has reported late
            outcome.force_exception(error)
        if self._sarif and session.findings:
            self._runs += json.loads(session.sarif())["runs"]
        if not session.findings:
            return
        if outcome.excinfo is not None or not session.failed:
            item.add_report_section("call", "Metal kernels, checked", session.report())
            return
        outcome.force_exception(_failure(session.report()))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """pytest-xdist: what a worker has found."""
        self._runs += getattr(node, "workeroutput", {}).get(_FINDINGS, [])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self._sarif:
            return
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_FINDINGS] = self._runs
            return
        log = {"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": self._runs}
        try:
            pathlib.Path(self._sarif).write_text(json.dumps(log, indent=2), encoding="utf-8")
        except OSError as error:
            print(f"metalloid: {self._sarif} could not be written: {error}", file=sys.stderr)


def _failure(report: str) -> BaseException:
    try:
        pytest.fail(f"the checker found what is wrong with a kernel:\n\n{report}", pytrace=False)
    except BaseException as failure:
        return failure
