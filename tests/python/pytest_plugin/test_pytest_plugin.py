"""The pytest plugin as people use it: engines, fixtures, options, what it costs. Each test runs a pytest of its own."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import textwrap
import tomllib

import pytest
from conftest import root

import metalloid

pytest_plugins = "pytester"
engines = metalloid.engines()  # not within a test: pytester forgets modules that are loaded there
package_folder = pathlib.Path(os.environ.get("METALLOID_BUILD", root / "build")) / "python"


def needs(package):
    """Without importing it here: pytester forgets what a test imports, and torch cannot be imported twice."""
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"{package} is not installed")


needs_torch, needs_mlx, needs_xdist = needs("torch"), needs("mlx"), needs("xdist")

KERNELS = """
    import numpy
    import pytest

    import metalloid

    SCALE = "kernel void scale(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }"
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Writes the test file and runs pytest with the plugin on it."""
    monkeypatch.setenv("PYTHONPATH", str(package_folder))
    monkeypatch.delenv("METALLOID_DEVICE", raising=False)

    def run(text, *options, plugin=("-p", "metalloid.pytest_plugin")):
        pytester.makepyfile(textwrap.dedent(KERNELS) + textwrap.dedent(text))
        return pytester.runpytest_subprocess(*plugin, "--strict-markers", *options)

    return run


def test_fixtures(run, pytester):
    pytester.makefile(".metal", add="""
        #include "amount.h"
        kernel void add(device float* x, uint i [[thread_position_in_grid]]) { x[i] += AMOUNT; }
    """)  # fmt: skip
    (pytester.path / "amount.h").write_text("#ifndef AMOUNT\n#define AMOUNT 3\n#endif\n")
    result = run(
        """
        import pathlib

        def test_source(metal_library, metal_device):
            assert metal_device in dict(metalloid.devices()) and metal_device == metalloid.default_device()
            x = numpy.ones(4, numpy.float32)
            metal_library(SCALE).scale(x)
            assert x.tolist() == [2] * 4

        @pytest.mark.parametrize("path", ["add.metal", pathlib.Path("add.metal")])
        def test_file_with_options(metal_library, path, monkeypatch, tmp_path):
            monkeypatch.chdir(tmp_path)  # paths start at the test's file
            x = numpy.zeros(2, numpy.float32)
            metal_library(path).add(x)
            metal_library(path, definitions={"AMOUNT": 4}, math_mode="fast").add(x)
            assert x.tolist() == [7, 7]

        def test_missing_file(metal_library):
            with pytest.raises(FileNotFoundError):
                metal_library("missing.metal")

        @pytest.fixture(scope="module")
        def scale(metal_library):
            return metal_library(SCALE).scale

        def test_in_a_fixture_of_larger_scope(scale):
            scale(numpy.zeros(1, numpy.float32))
        """
    )
    result.assert_outcomes(passed=5)


def test_marker_runs_once_per_engine(run):
    result = run(
        """
        lib = metalloid.compile_shader(SCALE)
        kernel = metalloid.fast.metal_kernel(
            "twice", ["x"], ["y"], "uint i = thread_position_in_grid.x; y[i] = 2 * x[i];")
        seen = []

        @pytest.mark.metal_engines
        def test_on_each(request):
            from metalloid import _core
            _core.take_events()
            x = numpy.ones(2, numpy.float32)
            lib.scale(x)  # made before the engine was chosen
            y, = kernel(inputs=[x], grid=(2, 1, 1), threadgroup=(2, 1, 1), output_shapes=[(2,)],
                        output_dtypes=["float32"])
            assert y.tolist() == [4, 4]
            names = [event["device"] for event in _core.take_events()[0]]
            assert names == [metalloid.default_device()] * 2
            assert request.node.name == f"test_on_each[{names[0]}]"
            seen.append(names[0])

        def test_all():
            assert seen == metalloid.engines()
            assert metalloid.default_device() == "cpu"
        """,
        "-v",
    )
    result.assert_outcomes(passed=len(engines) + 1)
    result.stdout.fnmatch_lines([f"*::test_on_each[[]{engine}] PASSED*" for engine in engines])


@needs_torch
def test_marker_reaches_torch_metal_kernel(run):
    result = run(
        """
        import torch

        def twice(x: torch.Tensor) -> torch.Tensor:
            return 2 * x

        kernel = metalloid.TorchMetalKernel(
            "twice", ["x"], ["y"], "y[i] = 2 * x[i];", twice,
            [metalloid.MetalParameter("i", "uint", "thread_position_in_grid")])

        @pytest.mark.metal_engines
        @pytest.mark.parametrize("size", [1, 3])
        def test_twice(size):
            from metalloid import _core
            _core.take_events()
            kernel(torch.ones(size), threads_per_grid=(size, 1, 1), threads_per_thread_group=(1, 1, 1),
                   result_shapes=[[size]])
            assert [event["device"] for event in _core.take_events()[0]] == [metalloid.default_device()] != ["cpu"]
        """
    )
    result.assert_outcomes(passed=2 * len(engines))


def test_missing_engine_fails(run):
    text = """
    @pytest.mark.metal_engines("reference", "abacus")
    def test_on_both():
        pass

    def test_other():
        pass
    """
    result = run(text)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["*ERROR at setup of test_on_both[[]abacus]*", "*no engine 'abacus'; it has *reference*"]
    )
    for option in ("--metalloid-engine=abacus", "--metalloid-engine=reference,abacus"):
        result = run(text, option)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: *engine abacus: this machine has no such engine; it has *reference*"])
        assert "passed" not in result.stdout.str()


def test_named_engine_takes_the_kernel_or_the_test_fails(run):
    result = run("""
        source = "kernel void k(device int* x, uint i [[thread_position_in_grid]])" "{ BODY }"
        barrier = "threadgroup_barrier(mem_flags::mem_none);"

        @pytest.mark.metal_engines("simd")
        @pytest.mark.parametrize("body", ["x[i] = 1;", f"if (x[i]) {{ {barrier} x[i] = 1; }} else {{ {barrier} }}"])
        def test_kernel(body):
            library = metalloid.compile_shader("using namespace metal;" + source.replace("BODY", body))
            assert library.k.engine == "simd" and not library.k.remarks
    """)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*no engine takes kernel 'k'; engine simd: *different threadgroup barriers*"])


def test_wrong_marker_is_an_error(run):
    function = run("@pytest.mark.metal_engines(['reference'])\ndef test(): pass")
    function.assert_outcomes(errors=1)
    function.stdout.fnmatch_lines(["*metal_engines takes names of engines, not ([[]'reference'],)*"])
    method = run("""
        import unittest
        class Tests(unittest.TestCase):
            @pytest.mark.metal_engines(name="reference")
            def test(self): pass
        """)  # fmt: skip
    assert method.ret == pytest.ExitCode.USAGE_ERROR
    method.stderr.fnmatch_lines(["ERROR: *metal_engines takes names of engines, not {'name': 'reference'}"])


def test_missing_engine_in_the_ini_file_fails(run, pytester):
    pytester.makeini("[pytest]\nmetalloid_engines = abacus")
    result = run("def test(): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*abacus*"])


@pytest.mark.parametrize("given", ["option", "ini", "cpu"])
def test_engine_that_exists(run, pytester, given):
    if given == "ini":
        pytester.makeini(f"[pytest]\nmetalloid_engines = {engines[0]}")
    options = {"option": ["--metalloid-engine", engines[0]], "ini": [], "cpu": ["--metalloid-engine=cpu,cpu"]}[given]
    result = run(
        f"""
        ENGINE = {engines[0]!r}
        import subprocess, sys

        def test_any():
            assert metalloid.default_device() == ENGINE
            code = "import metalloid; print(metalloid.default_device())"
            assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == ENGINE + "\\n"

        def test_with_fixture(metal_device):
            assert metal_device == ENGINE

        @pytest.mark.metal_engines("abacus")
        def test_for_another():
            assert False
        """,
        *options,
        "-v",
    )
    result.assert_outcomes(passed=2, deselected=1)
    result.stdout.fnmatch_lines(
        [
            f"metalloid: 0.*, engine {engines[0]}",
            f"*test_with_fixture[[]{engines[0]}] PASSED*",
            "metalloid: 1 test deselected*",
        ]
    )


def test_methods_of_unittest(run):
    result = run(
        """
        import unittest

        class Tests(unittest.TestCase):
            @pytest.mark.metal_engines("reference")
            def test_one(self):
                self.assertEqual(metalloid.default_device(), "reference")

            @pytest.mark.metal_engines("reference", "abacus")
            def test_two(self):
                pass
        """
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*methods of unittest.TestCase cannot run once for each*"])


def test_users_own_parameters_win(run):
    result = run(
        """
        @pytest.mark.metal_engines
        @pytest.mark.parametrize("metal_device", ["cpu"], indirect=True)
        def test_cpu(metal_device):
            assert metal_device == metalloid.default_device() == "cpu"
        """
    )
    result.assert_outcomes(passed=1)


def test_says_why_tests_were_skipped_if_none_ran_a_kernel(run):
    text = """
    needs_mac = pytest.mark.skipif(sys.platform != "darwin", reason="needs macOS")

    @needs_mac
    @pytest.mark.parametrize("size", [1, 2])
    def test(size):
        pass
    """
    result = run("import sys\n" + textwrap.dedent(text), "--metalloid-engine=reference")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["metalloid: 0 tests launched kernels*", "metalloid: 2 tests skipped: needs macOS"])


def test_require_kernels(run):
    silent = """
    def test_returns_early():
        if not hasattr(metalloid, "gpu"):
            return
    """
    assert run(silent).ret == 0
    result = run(silent, "--metalloid-require-kernels")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["metalloid: 0 tests launched kernels*", "ERROR: no test launched a kernel*"])
    assert run(silent, "--metalloid-require-kernels", "--collect-only").ret == 0
    result = run(
        """
        def test_launches(metal_library):
            for _ in range(3):
                metal_library(SCALE).scale(numpy.ones(2, numpy.float32))
        """,
        "--metalloid-require-kernels",
    )
    assert result.ret == 0
    result.stdout.fnmatch_lines(["metalloid: 1 test launched kernels, 3 launches in all"])


def test_kernels_of_child_processes_count(run):
    result = run(
        """
        import subprocess, sys

        def test_in_a_child():
            source = "kernel void f(device int* x) {}"
            code = f"import metalloid; metalloid.compile_shader({source!r}).f(bytearray(4), threads=1)"
            for _ in range(2):
                subprocess.run([sys.executable, "-c", code], check=True)
        """,
        "--metalloid-require-kernels",
    )
    assert result.ret == 0
    result.stdout.fnmatch_lines(["metalloid: 0 tests launched *, 0 launches in all; 2 in processes that tests started"])


def test_plugin_is_lazy(pytester, monkeypatch):
    """Neither torch nor the compiler is loaded in a session that does not ask for them."""
    monkeypatch.setenv("PYTHONPATH", str(package_folder))
    pytester.makepyfile(
        """
        import sys

        def test_nothing_is_loaded():
            heavy = {"metalloid._core", "metalloid._shader", "torch", "mlx", "numpy"}
            assert not heavy & set(sys.modules)
            assert "metalloid.pytest_plugin" in sys.modules
        """
    )
    result = pytester.runpytest_subprocess("-p", "metalloid.pytest_plugin", "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)
    assert "metalloid:" not in result.stdout.str()


@pytest.fixture
def installed(pytester, monkeypatch):
    """The package with its entry point, as pip installs it."""
    folder = pytester.path / "site"
    information = folder / "metalloid-0.1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: metalloid\nVersion: 0.1.0\n")
    (group,) = tomllib.loads((root / "pyproject.toml").read_text())["project"]["entry-points"].items()
    lines = [f"{name} = {value}" for name, value in group[1].items()]
    (information / "entry_points.txt").write_text("\n".join([f"[{group[0]}]", *lines, ""]))
    files = sorted((package_folder / "metalloid").rglob("*.py"))
    (information / "RECORD").write_text("".join(f"{path.relative_to(package_folder)},,\n" for path in files))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(package_folder)]))
    pytester.makepyfile("def test_fixture(metal_device): assert metal_device")
    return pytester


def test_entry_point(installed):
    installed.runpytest_subprocess().assert_outcomes(passed=1)
    # Naming the module, too, does no harm.
    installed.runpytest_subprocess("-p", "metalloid.pytest_plugin").assert_outcomes(passed=1)
    installed.runpytest_subprocess("-p", "metalloid").assert_outcomes(passed=1)


@needs_torch
@needs_xdist
def test_suite_in_which_warnings_are_errors(installed):
    """xdist's workers import the package before pytest, which warns of modules that it cannot rewrite then."""
    installed.makeini("[pytest]\nfilterwarnings = error")
    result = installed.runpytest_subprocess("--metalloid-mps", "-n", "2")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*Warning: *")


def test_can_be_turned_off(installed):
    result = installed.runpytest_subprocess("-p", "no:metalloid")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'metal_device' not found*"])
    assert installed.runpytest_subprocess("-p", "no:metalloid", "--metalloid-mps").ret == pytest.ExitCode.USAGE_ERROR


def test_loaded_by_a_conftest(run, pytester):
    pytester.makeconftest("pytest_plugins = ['metalloid.pytest_plugin']")
    text = "@pytest.mark.metal_engines\ndef test(metal_device): assert metal_device in metalloid.engines()"
    run(text, plugin=()).assert_outcomes(passed=len(engines))


@needs_xdist
def test_with_xdist(run):
    text = """
    @pytest.mark.metal_engines
    @pytest.mark.parametrize("size", [1, 2, 3])
    def test_scale(metal_library, size):
        x = numpy.ones(size, numpy.float32)
        metal_library(SCALE).scale(x)
        assert x.sum() == 2 * size if size < 3 else False
    """
    result = run(text, "-n", "2", "--metalloid-engine=reference", "--metalloid-require-kernels")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*Metal kernels launched*", "metalloid: 3 tests launched kernels, 3 launches in all"])


def test_importing_the_plugin_is_cheap():
    """Every pytest run of a machine that has Metalloid installed imports it: a few small modules, none that is big."""
    code = (
        "import pytest, sys; before = set(sys.modules); import metalloid.pytest_plugin;"
        "print(*sorted(set(sys.modules) - before))"
    )
    environment = {**os.environ, "PYTHONPATH": str(package_folder)}
    new = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment).stdout.split()
    assert "metalloid.pytest_plugin" in new
    assert not {name.split(".")[0] for name in new} & {"numpy", "torch", "mlx", "ml_dtypes"}
    assert "metalloid._core" not in new and len(new) < 40, new
