"""Fixtures for the Python tests: the built command line and package."""

import collections
import contextlib
import faulthandler
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(os.environ.get("METALLOID_BUILD", root / "build"))
sys.path.insert(0, str(build / "python"))
sys.path.insert(0, str(root / "scripts"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(build / "python"), os.environ.get("PYTHONPATH")]))

# Signals have their usual effects in the tests and the processes they start, also where the runner was started without
# them, as shells do for commands in the background, and nohup.
for number, usual in {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}.items():
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

# Settings of the person who runs the tests change no result. Where CI is set PyTorch's test files write XML, with a
# package that nothing else needs.
for name in [name for name in os.environ if name.startswith("METALLOID_") and name != "METALLOID_BUILD"]:
    del os.environ[name]
os.environ.pop("CI", None)

from check_skips import allowed_skips, may_be_skipped  # noqa: E402
from slow_tests import is_quick, slow_tests  # noqa: E402

long_test = 900  # seconds


def pytest_configure(config):
    """The device, before anything asks for it, and where a hanging test is reported, since its own output is captured."""
    if device := config.getoption("--device"):
        os.environ |= {"METALLOID_DEVICE": device, "METALLOID_TRIAL_ENGINE": "1"}
    config.addinivalue_line("markers", "host_memory: what the host writes and kernels write is the same memory")
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        config.metalloid_stderr = os.fdopen(os.dup(2), "w")


# Seconds that each test took with its setup and teardown, by its name.
seconds_of_tests = collections.Counter()


def pytest_runtest_logreport(report):
    seconds_of_tests[report.nodeid] += report.duration


def pytest_sessionfinish(session):
    """Keeps the times of what ran in the build folder, beside those of tests that did not run this time."""
    if hasattr(session.config, "workerinput") or not seconds_of_tests:
        return
    path = build / "test_times.json"
    known = json.loads(path.read_text()) if path.is_file() else {}
    times = known | {name: round(seconds, 2) for name, seconds in seconds_of_tests.items()}
    path.write_text(json.dumps(times, indent=0, sort_keys=True))


def pytest_addoption(parser):
    parser.addoption(
        "--no-skips", action="store_true", help="a skipped test fails unless tests/allowed_skips.txt lists it"
    )
    parser.addoption("--kernel-cache", metavar="FOLDER", help="where compiled kernels are kept for other runs")
    parser.addoption("--device", metavar="NAME", help="where kernels run that do not say it: cpu, trial_unified, trial, ...")
    parser.addoption("--quick", action="store_true", help="leave out what tests/slow_tests.txt lists")
    parser.addoption("--slow", action="store_true", help="only what --quick leaves out")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--device") == "trial":  # where kernels work on copies
        copied = [item for item in items if item.get_closest_marker("host_memory")]
        items[:] = [item for item in items if item not in copied]
        config.hook.pytest_deselected(items=copied)
    if not config.getoption("--quick") and not config.getoption("--slow"):
        return
    slow, seen = slow_tests(), collections.Counter()
    chosen, others = [], []
    for item in items:
        function = item.nodeid.partition("[")[0]
        is_chosen = is_quick(function, seen[function], slow) == config.getoption("--quick")
        (chosen if is_chosen else others).append(item)
        seen[function] += 1
    items[:] = chosen
    config.hook.pytest_deselected(items=others)


def refuse_skip(config, report):
    """Makes a failure of the report of a test, or of a file, that is skipped and not listed."""
    if not config.getoption("--no-skips") or not report.skipped or hasattr(report, "wasxfail"):
        return
    if may_be_skipped(report.nodeid, allowed_skips()):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"{reason}\n{report.nodeid} may not be skipped: tests/allowed_skips.txt does not list it"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    refuse_skip(item.config, (yield).get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    refuse_skip(collector.config, (yield).get_result())


@pytest.fixture(autouse=True)
def hangs_are_seen(request):
    """Says where the threads are, again and again, while a test takes long; a busy machine is no failure."""
    faulthandler.dump_traceback_later(long_test, repeat=True, file=request.config.metalloid_stderr)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session", autouse=True)
def kernel_cache(request, tmp_path_factory):
    """Compiled kernels of other runs stay out of the tests' way, unless asked for; pytest-xdist's processes share."""
    if kept := request.config.getoption("--kernel-cache"):
        os.environ["METALLOID_CACHE_DIR"] = os.path.abspath(kept)
        return
    own = cache_with_device(tmp_path_factory.mktemp("cache"))
    if "PYTEST_XDIST_TESTRUNUID" in os.environ:
        shared = tmp_path_factory.getbasetemp().parent / "cache"
        with contextlib.suppress(OSError):  # another process was first
            own.rename(shared)
        own = shared
    os.environ["METALLOID_CACHE_DIR"] = str(own)


@pytest.fixture
def own_cache(tmp_path_factory, monkeypatch):
    """A cache that no other test has written to."""
    cache = cache_with_device(tmp_path_factory.mktemp("cache"))
    monkeypatch.setenv("METALLOID_CACHE_DIR", str(cache))
    return cache


def cache_with_device(cache):
    """The device mps takes minutes to compile: scripts/test.sh does it once, for all caches."""
    prepared = build / "test_cache" / "extensions"
    if prepared.is_dir():
        cache.chmod(0o700)
        shutil.copytree(prepared, cache / "extensions", copy_function=link_or_copy)
    return cache


def link_or_copy(source, destination):
    try:
        os.link(source, destination)
    except OSError:
        shutil.copy2(source, destination)


@pytest.fixture
def examples() -> pathlib.Path:
    return root / "examples" / "kernels"


@pytest.fixture
def metalloid_cli():
    """Runs the command line and returns the finished process, with text output."""

    def run(*arguments, timeout=1200, **keywords):
        command = [str(build / "bin" / "metalloid"), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **keywords)

    return run


@pytest.fixture
def source_file(tmp_path):
    """Writes Metal source to a file."""

    def write(text, name="kernel.metal"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="module")
def device():
    """The device mps: its module in C++, with Metalloid's own operators."""
    pytest.importorskip("torch")
    from metalloid.mps import _plugin

    try:
        module = _plugin.device()
        _plugin.own_operators()
    except _plugin.CannotBuild as error:
        pytest.skip(str(error))
    return module
