"""The pytest plugin's part around each test: on which engine it runs, what kernels it launched, what is reported."""

from __future__ import annotations

import collections
import sys
from collections.abc import Generator, Iterable
from typing import Any

import pytest

from . import activity
from .settings import Settings

_most_names = 5  # of operators in the summary
_events_key: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()


def _take_events() -> tuple[list[dict[str, Any]], int]:
    """What happened since the last call, and the number of launches. Nothing while no test has loaded the compiler."""
    core = sys.modules.get("metalloid._core")
    if core is None:
        return [], 0
    core.record(True)  # this process reads its events itself
    events, launches = core.take_events()
    return events, launches


def _hide_own_frames() -> None:
    """Tracebacks end where the project calls Metalloid: pytest drops frames whose module has this name."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "metalloid" and name != __name__:  # what this module raises has no other frames
            vars(module).setdefault("__tracebackhide__", True)


def _engines() -> list[str]:
    from .. import _core

    return _core.engines()


def _problem_of(mark: pytest.Mark) -> str | None:
    if mark.kwargs or not all(isinstance(name, str) for name in mark.args):
        return f"metal_engines takes names of engines, not {mark.args or ''}{mark.kwargs or ''}"
    return None


def _skip_reasons(reports: Iterable[Any]) -> collections.Counter[str]:
    """What skipped tests say; a suite that asks for macOS itself skips all of them."""
    reasons = (report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple))
    return collections.Counter(reason.removeprefix("Skipped: ") for reason in reasons)


def _count(number: int, what: str, plural: str = "s") -> str:
    return f"{number} {what}{'' if number == 1 else plural}"


class Runs:
    """Hooks of one session."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings = settings
        self._is_worker = hasattr(config, "workerinput")  # of xdist; its reports go to the controller
        self._tests_with_launches: set[str] = set()
        self._launches = self._launches_of_children = self._deselected = 0
        self._fallbacks = activity.Fallbacks()
        self._activity = activity.Session()

    # Which tests run, and where.

    def _engines_of(self, item: Any) -> list[str] | None:
        """The engines to run a test on, one after the other; None if that is not asked for."""
        mark = item.get_closest_marker("metal_engines")
        if mark is None:
            return self._settings.engines or None
        if mark.args and self._settings.engines:
            return [name for name in self._settings.engines if name in mark.args]
        return list(mark.args) or self._settings.engines or _engines()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        marked = metafunc.definition.get_closest_marker("metal_engines")
        if not marked and "metal_device" not in metafunc.fixturenames:
            return
        for mark in metafunc.definition.iter_markers("parametrize"):
            names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
            if "metal_device" in (names.replace(",", " ").split() if isinstance(names, str) else names):
                return
        if marked and (problem := _problem_of(marked)):
            pytest.fail(problem, pytrace=False)
        engines = self._engines_of(metafunc.definition)
        if not engines:
            return
        if "metal_device" not in metafunc.fixturenames:
            metafunc.fixturenames.append("metal_device")
        metafunc.parametrize("metal_device", engines, indirect=True, scope="session")

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Tests whose marker names none of the engines asked for are deselected, which pytest counts and says."""
        kept: list[pytest.Item] = []
        others: list[pytest.Item] = []
        for item in items:
            mark = item.get_closest_marker("metal_engines")
            if mark and (problem := _problem_of(mark)):  # a method of unittest.TestCase; others never come here
                raise pytest.UsageError(f"{item.nodeid}: {problem}")
            (others if mark and not self._engines_of(item) else kept).append(item)
        if others:
            self._deselected = len(others)
            config.hook.pytest_deselected(items=others)
            items[:] = kept

    def pytest_collection_finish(self) -> None:
        """A suite that skips itself because a runner did not take hold would look fine."""
        torch, mlx = sys.modules.get("torch"), sys.modules.get("mlx.core")
        if "mps" in self._settings.runners and torch is not None and not torch.backends.mps.is_available():
            raise pytest.UsageError("--metalloid-mps has no effect: something hides the device that it made for torch")
        if "mlx" in self._settings.runners and mlx is not None and not mlx.metal.is_available():
            raise pytest.UsageError("--metalloid-mlx has no effect: something hides the GPU that it made for MLX")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        _take_events()
        if self._watches_operators:
            activity.take_operators(), self._fallbacks.take()
        engine = self._engine_of(item)
        if engine is None:
            yield
            return
        from .. import _device

        before = _device.chosen
        _device.chosen = engine
        yield
        _device.chosen = before

    def _engine_of(self, item: pytest.Item) -> str | None:
        """None: the default device."""
        callspec = getattr(item, "callspec", None)
        if callspec is not None and "metal_device" in callspec.params:
            return str(callspec.params["metal_device"])
        engines = self._engines_of(item) if item.get_closest_marker("metal_engines") else None
        return engines[0] if engines and len(engines) == 1 else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        engine = self._engine_of(item)
        if engine is not None:
            from .. import _core

            if engine not in dict(_core.devices()):
                pytest.fail(f"this machine has no engine {engine!r}; it has {', '.join(_engines())}", pytrace=False)
        elif item.get_closest_marker("metal_engines"):
            engines = ", ".join(self._engines_of(item) or [])
            pytest.fail(
                f"metal_engines asks for {engines}, and methods of unittest.TestCase cannot run once for each",
                pytrace=False,
            )

    # What they did.

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
        if call.excinfo is not None:
            _hide_own_frames()
        outcome = yield
        report = outcome.get_result()
        new_events, launches = _take_events()
        events = item.stash.setdefault(_events_key, [])
        events.extend(new_events)
        report.metalloid_launches = launches
        if self._watches_operators:
            kernels = collections.Counter(event["kernel"] for event in new_events if event["kind"] == "dispatch")
            ran = {"kernels": kernels, "operators": activity.take_operators(), "fallbacks": self._fallbacks.take()}
            report.metalloid_activity = {kind: dict(counts) for kind, counts in ran.items() if counts}
        if report.failed and call.excinfo is not None:
            self._explain(report, call.excinfo.value, events)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, Any, None]:
        """Kernels of module scope are compiled, some are launched, when the module is imported."""
        _take_events()
        _hide_own_frames()
        outcome = yield
        report = outcome.get_result()
        if report.failed:
            self._explain(report, None, _take_events()[0])

    def _explain(self, report: Any, error: BaseException | None, events: list[dict[str, Any]]) -> None:
        if events or type(error).__module__.startswith("metalloid"):
            from . import sections

            report.sections.extend(sections.explain(error, events, self._settings.source_lines))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        launches = getattr(report, "metalloid_launches", 0)
        self._launches += launches
        if launches:  # one of several reports: of setup, call, teardown, and of each subtest
            self._tests_with_launches.add(report.nodeid)
        if ran := getattr(report, "metalloid_activity", None):
            self._activity.add(report.nodeid, ran)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self._settings.is_used:
            return
        children = self._launches_of_children
        elsewhere = f"; {children} in processes that tests started" if children else ""
        terminalreporter.write_line(
            f"metalloid: {_count(len(self._tests_with_launches), 'test')} launched kernels, "
            f"{_count(self._launches, 'launch', 'es')} in all{elsewhere}"
        )
        self._summarise_operators(terminalreporter)
        if not self._launches:
            for reason, count in _skip_reasons(terminalreporter.stats.get("skipped", ())).most_common(3):
                terminalreporter.write_line(f"metalloid: {_count(count, 'test')} skipped: {reason}")
        if self._deselected:
            terminalreporter.write_line(
                f"metalloid: {_count(self._deselected, 'test')} deselected, marked for other engines than "
                f"{', '.join(self._settings.engines)}"
            )
        if self._has_failed():
            terminalreporter.write_line("ERROR: no test launched a kernel (--metalloid-require-kernels)", red=True)

    @property
    def _watches_operators(self) -> bool:
        return "mps" in self._settings.runners or self._settings.report is not None

    def _summarise_operators(self, terminalreporter: Any) -> None:
        operators, fallbacks = self._activity.total("operators"), self._activity.total("fallbacks")
        if operators or fallbacks:
            names = ", ".join(list(fallbacks)[:_most_names]) + (", ..." if len(fallbacks) > _most_names else "")
            terminalreporter.write_line(
                f"metalloid: operators of PyTorch ran as {_count(len(operators), 'Metal kernel')}, "
                f"{_count(sum(operators.values()), 'launch', 'es')}; {_count(len(fallbacks), 'operator')} fell back to the CPU, "
                f"{_count(sum(fallbacks.values()), 'call')}{f' ({names})' if names else ''}"
            )
        if self._settings.report is not None:
            self._activity.write(self._settings.report)
            terminalreporter.write_line(f"metalloid: what each test ran is in {self._settings.report}")

    def _has_failed(self) -> bool:
        return self._settings.require_kernels and self._launches + self._launches_of_children == 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._is_worker:
            return
        if self._settings.child_records is not None:
            files = self._settings.child_records.iterdir()
            self._launches_of_children = sum(int(file.read_text() or 0) for file in files)
        if self._has_failed() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
