"""``--metalloid-check``: each test runs inside a session of the checker, and fails if that finds anything.

Set-up, call and tear-down have a session each, so that fixtures fail where their errors do. Another one is around the
whole run: what is outside of tests (imports, hooks) makes the run fail.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .._checking import Check

_OF_WORKER = "metalloid_check"  # in a worker's output
_options = {"only", "also", "skip", "strict", "schedule", "suppress"}
_COUNTS = ("findings", "notes", "dispatches", "in_processes", "processes", "inside")


class Checks:
    """Hooks of one session."""

    def __init__(self, config: pytest.Config, skip: str, sarif: str | None) -> None:
        self._skip = skip
        self._sarif = sarif
        self._runs: list[dict[str, Any]] = []
        self._outside: list[str] = []  # reports
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._around: Check | None = None
        is_worker = hasattr(config, "workerinput")
        if is_worker or config.getoption("dist", "no") == "no":  # pytest-xdist: workers run the tests
            self._begin()

    def _begin(self) -> None:
        from .. import _checked_processes
        from .._checking import check

        _checked_processes.share()
        try:
            self._around = check(skip=self._skip, raises=False)
            self._around.__enter__()
        except ValueError as error:
            _checked_processes.end()
            raise pytest.UsageError(f"--metalloid-check-skip: {error}") from None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, None]:
        yield from self._check(item, "setup")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        yield from self._check(item, "call")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, None]:
        yield from self._check(item, "teardown")

    def _check(self, item: pytest.Item, phase: str) -> Generator[None, Any, None]:
        session = self._session_of(item, phase)
        outcome = yield
        try:
            session.__exit__(None, None, None)
        except Exception as error:  # that a kernel has reported late
            outcome.force_exception(error)
        self._note(session)
        if not session.findings:
            return
        if outcome.excinfo is not None or not session.failed:
            item.add_report_section(phase, "Metal kernels, checked", session.report())
            return
        outcome.force_exception(_failure(f"the checker found what is wrong with a kernel:\n\n{session.report()}"))

    def _session_of(self, item: pytest.Item, phase: str) -> Check:
        from .._checking import check, names_of

        mark = item.get_closest_marker("metalloid_check")
        options = dict(mark.kwargs) if mark else {}
        problem = None
        if mark and (mark.args or not set(options) <= _options):
            problem = f"metalloid_check takes the options of metalloid.check, not {mark.args or options}"
        else:
            try:
                skip = [*names_of("skip", options.pop("skip", "")), *names_of("skip", self._skip)]
                return check(**options, skip=skip, raises=False).__enter__()
            except (TypeError, ValueError) as error:
                problem = f"metalloid_check: {error}"
        if phase == "call":  # the others must not be left out
            pytest.fail(problem, pytrace=False)
        return check(skip=self._skip, raises=False).__enter__()

    def _note(self, session: Check) -> None:
        if self._sarif and session.findings:
            self._runs += [run for run in json.loads(session.sarif())["runs"] if run["results"]]
        for name, count in session.counts().items():
            if name != "inside" or session is not self._around:  # of that one all tests are
                self._counts[name] += count

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """pytest-xdist: what a worker has found."""
        told = getattr(node, "workeroutput", {}).get(_OF_WORKER)
        if told is None:
            return
        self._runs += told["runs"]
        self._outside += told["outside"]
        for name in _COUNTS:
            self._counts[name] += told["counts"][name]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._end_around()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_OF_WORKER] = {
                "runs": self._runs, "outside": self._outside, "counts": self._counts,
            }  # fmt: skip
            return
        if self._outside and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self._sarif:
            self._write_sarif(self._sarif)

    def _end_around(self) -> None:
        from .. import _checked_processes

        if self._around is None:
            return
        try:
            self._around.__exit__(None, None, None)
        except Exception as error:
            print(f"metalloid: {error}", file=sys.stderr)
        _checked_processes.end()
        self._note(self._around)
        if self._around.failed:
            self._outside.append(self._around.report())
        self._around = None

    def _write_sarif(self, path: str) -> None:
        log = {"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": self._runs}
        try:
            pathlib.Path(path).write_text(json.dumps(log, indent=2), encoding="utf-8")
        except OSError as error:
            print(f"metalloid: {path} could not be written: {error}", file=sys.stderr)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from .._checking import summary_of

        for report in self._outside:
            terminalreporter.section("Metal kernels, checked: outside of tests")
            terminalreporter.write_line(report)
        has_none = not any(self._counts[name] for name in ("dispatches", "findings", "notes"))
        terminalreporter.write_line(f"metalloid: --metalloid-check: {summary_of(**self._counts)}", yellow=has_none)

    def pytest_unconfigure(self) -> None:
        self._end_around()  # a usage error came first


def _failure(message: str) -> BaseException:
    try:
        pytest.fail(message, pytrace=False)
    except BaseException as failure:
        return failure
