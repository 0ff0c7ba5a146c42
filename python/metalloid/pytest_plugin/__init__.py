"""pytest-metalloid: tests of Metal kernels on Linux.

It gives tests

- the fixtures ``metal_device`` (the name of the device to run on) and ``metal_library`` (compiles Metal source or a
  ``.metal`` file beside the test for that device),
- the marker ``metal_engines``, which runs a test once per engine,
- sections in the reports of failed tests: which kernel failed where, or which kernels ran, with their source,
- ``--metalloid-mps`` and ``--metalloid-mlx``, under which a test suite written for a Mac runs on Linux.

pytest loads this module in every run of an environment that has Metalloid, so it imports nothing but the standard
library until a test needs more. ``settings`` reads the options, ``runs`` has what happens around each test, ``sections``
the text of the sections.
"""

from __future__ import annotations

import errno
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from .._runners import runners
from .checking import Checks
from .runs import Runs
from .settings import Settings, settings_key, settings_of

if TYPE_CHECKING:
    from .._shader import ShaderLibrary

_this_plugin = "metalloid.pytest_plugin"


class Entry:
    """What the package's entry point loads: this module, unless ``-p metalloid.pytest_plugin`` already has."""

    @staticmethod
    def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
        if not pluginmanager.has_plugin(_this_plugin):
            pluginmanager.import_plugin(_this_plugin)


entry = Entry()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("metalloid", "Metal kernels (metalloid)")
    group.addoption(
        "--metalloid-engine",
        action="append",
        default=[],
        metavar="NAME",
        help="run kernels on this engine; several (repeated or separated by commas) run marked tests on each of them. "
        "An engine that this machine does not have is an error.",
    )
    for runner in runners.values():
        group.addoption(f"--metalloid-{runner.name}", action="store_true", help=f"run a suite {runner.suites}")
    group.addoption(
        "--metalloid-macos",
        default=None,
        metavar="VERSION",
        help="with --metalloid-mps: which macOS the machine is to torch, 15 (default, Metal 3.2) or 26 (Metal 4)",
    )
    group.addoption(
        "--metalloid-verify-coreai",
        action="store_true",
        help="run the Metal source of every call of Core AI's own TorchMetalKernel, too, and compare with torch_defn",
    )
    group.addoption(
        "--metalloid-report",
        default=None,
        metavar="FILE",
        help="write what each test ran, as JSON: kernels of its own, operators of PyTorch that ran as Metal kernels and "
        "those that fell back to the CPU, with counts",
    )
    group.addoption(
        "--metalloid-require-kernels",
        action="store_true",
        help="fail if no test of the session ran a kernel",
    )
    parser.addini("metalloid_engines", "engines for --metalloid-engine, where that is not given", type="args")
    group.addoption(
        "--metalloid-check",
        action="store_true",
        help="run each test under the checker: races, accesses out of bounds and more make it fail",
    )
    group.addoption(
        "--metalloid-check-skip",
        default="",
        metavar="CLASSES",
        help="with --metalloid-check: do not look for these, as race,misaligned",
    )
    group.addoption(
        "--metalloid-check-sarif", default=None, metavar="FILE", help="with --metalloid-check: write findings as SARIF"
    )
    parser.addini("metalloid_check", "as --metalloid-check", type="bool", default=False)
    for name in runners:
        parser.addini(f"metalloid_{name}", f"as --metalloid-{name}", type="bool", default=False)
    parser.addini("metalloid_macos", "as --metalloid-macos", default="")
    parser.addini("metalloid_verify_coreai", "as --metalloid-verify-coreai", type="bool", default=False)
    parser.addini("metalloid_require_kernels", "as --metalloid-require-kernels", type="bool", default=False)
    parser.addini("metalloid_source_lines", "most lines of one Metal source in a report", default="60")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any conftest or test module can ask torch or MLX what devices there are."""
    _set_up(early_config, early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    if settings_key not in config.stash:  # loaded by a conftest: the first hook was over
        _set_up(config, config.option)
    config.addinivalue_line(
        "markers",
        "metal_engines(*names): run the test once per engine of this machine, or of the engines named; one that this "
        "machine does not have fails",
    )
    config.addinivalue_line(
        "markers",
        "metalloid_check(only=, also=, skip=, strict=, schedule=, suppress=): how --metalloid-check checks the test",
    )
    settings = settings_of(config)
    if settings.checks:
        config.pluginmanager.register(Checks(config, settings.check_skip, settings.check_sarif), "metalloid.checks")
    if settings.is_used and not hasattr(config, "workerinput"):
        settings.child_records = pathlib.Path(tempfile.mkdtemp(prefix="metalloid-pytest-"))
        os.environ["METALLOID_RECORD"] = str(settings.child_records)
    config.pluginmanager.register(Runs(config, settings), "metalloid.runs")


def _set_up(config: pytest.Config, options: Any) -> None:
    settings = config.stash[settings_key] = Settings(config, options)
    # Read when the compiler is loaded, whenever that is. In xdist's workers it is the controller's.
    os.environ.setdefault("METALLOID_RECORD", "1")
    if "metalloid._core" in sys.modules:
        sys.modules["metalloid._core"].record(True)
    if settings.engines:
        from .. import _device

        _device.set_default_device(settings.engines[0])
        os.environ["METALLOID_DEVICE"] = settings.engines[0]  # for child processes
    if settings.verify_coreai:
        _verify_coreai()
    if settings.macos:
        _set_macos(settings.macos)
    for name in settings.runners:
        _activate(name)


def _verify_coreai() -> None:
    if importlib.util.find_spec("coreai_torch") is None:
        raise pytest.UsageError(
            f"--metalloid-verify-coreai needs coreai-torch, which {sys.executable} does not have "
            "(pip install coreai-torch)"
        )
    from .._torch_metal_kernel.coreai_calls import verify_every_call

    verify_every_call()


def _set_macos(version: str) -> None:
    """In this process and in those that tests start."""
    from ..mps import macos

    try:
        macos.parse(version)
    except ValueError as error:
        raise pytest.UsageError(f"--metalloid-macos: {error}") from None
    os.environ[macos.variable] = version


def pytest_unconfigure(config: pytest.Config) -> None:
    settings = config.stash.get(settings_key, None)
    if settings is not None and settings.child_records is not None:
        shutil.rmtree(settings.child_records, ignore_errors=True)


def _activate(name: str) -> None:
    """In this process, in xdist's workers and in the processes that tests start."""
    runner = runners[name]
    if missing := runner.what_is_missing():
        raise pytest.UsageError(f"--metalloid-{name} {missing}")
    runner.activate_child_processes()
    runner.activate()


def pytest_report_header(config: pytest.Config) -> str | None:
    settings = settings_of(config)
    if not settings.is_used:
        return None
    from .. import _core

    engines = settings.engines or _core.engines()[:1]
    parts = [f"{'engine' if len(engines) == 1 else 'engines'} {', '.join(engines)}"]
    parts += [f"runs {runners[name].runs}" for name in settings.runners]
    parts += ["verifies Core AI's kernels"] if settings.verify_coreai else []
    return f"metalloid: {_core.version}, {'; '.join(parts)}"


@pytest.fixture(scope="session")
def metal_device(request: pytest.FixtureRequest) -> str:
    """The name of the device to run kernels on, one of those that ``metalloid.devices()`` lists.

    In tests marked ``metal_engines``, and where ``--metalloid-engine`` is given, one engine after the other.
    """
    if hasattr(request, "param"):
        return str(request.param)
    from .. import _device

    return _device.default_device()


@pytest.fixture(scope="module")
def metal_library(request: pytest.FixtureRequest, metal_device: str) -> Callable[..., ShaderLibrary]:
    """Compiles Metal source for ``metal_device``: ``metal_library(source_or_file, **options)``.

    The argument is source, or the path of a ``.metal`` file (str or ``os.PathLike``), relative to the test's file.
    That file's folder is searched for includes first. ``options`` are those of ``metalloid.compile_shader``.

    Raises:
        SyntaxError: the source does not compile; the text is the compiler's log.
        FileNotFoundError: there is no such file.
    """
    folder = request.path.parent

    def compile_for_test(source: str | os.PathLike[str], **options: Any) -> ShaderLibrary:
        from .._shader import compile_shader

        options = {"device": metal_device, **options}
        if isinstance(source, str) and not (source.endswith(".metal") and "\n" not in source):
            return compile_shader(source, **options)
        path = folder / pathlib.Path(source)
        if not path.is_file():
            raise FileNotFoundError(errno.ENOENT, "no such Metal source", str(path))
        return compile_shader(path.read_text(), **{"source_name": str(path), "source_file": path, **options})

    return compile_for_test
