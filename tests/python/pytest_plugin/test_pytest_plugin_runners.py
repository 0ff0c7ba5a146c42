"""--metalloid-mps and --metalloid-mlx: test suites as people write them for a Mac."""

import importlib.util
import json
import os
import pathlib
import re
import sys
import textwrap

import pytest
from test_pytest_plugin import needs_mlx, needs_torch, needs_xdist, package_folder

pytest_plugins = "pytester"

# Both ask at import time, as most suites do.
MPS = """
    import os
    import subprocess
    import sys

    import pytest
    import torch

    needs_mac = pytest.mark.skipif(not torch.backends.mps.is_available(), reason="needs a Mac")
    SOURCE = "kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }"

    @needs_mac
    def test_kernel():
        x = torch.ones(5, device="mps")
        torch.mps.compile_shader(SOURCE).twice(x)
        torch.mps.synchronize()
        assert x.device.type == "mps" and x.cpu().tolist() == [2] * 5

    @needs_mac
    def test_child_process():
        code = "import torch; x = torch.ones(1, device='mps')\\n"
        code += f"torch.mps.compile_shader({SOURCE!r}).twice(x); print(x)"
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert result.stdout == "tensor([2.], device='mps:0')\\n", result.stderr

    @needs_mac
    def test_wrong_numbers(conftest_saw_mps):
        x = torch.ones(5, device="mps")
        torch.mps.compile_shader(SOURCE).twice(x)
        assert conftest_saw_mps
        assert x.sum().item() == 5
"""
MPS_CONFTEST = """
    import pytest
    import torch

    available = torch.backends.mps.is_available()

    @pytest.fixture
    def conftest_saw_mps():
        return available
"""
MLX = """
    import unittest

    import mlx.core as mx
    import pytest

    kernel = mx.fast.metal_kernel(
        name="square", input_names=["x"], output_names=["y"],
        source="uint i = thread_position_in_grid.x; y[i] = x[i] * x[i];",
    ) if mx.metal.is_available() else None

    def square(x):
        return kernel(inputs=[x], grid=(x.size, 1, 1), threadgroup=(64, 1, 1), output_shapes=[x.shape],
                      output_dtypes=[x.dtype], stream=mx.gpu)[0]

    @unittest.skipIf(not mx.metal.is_available(), "needs a Mac")
    class TestSquare(unittest.TestCase):
        def test_square(self):
            assert mx.default_device() == mx.gpu
            self.assertEqual(square(mx.array([1.0, 2.0, 3.0])).tolist(), [1, 4, 9])

        def test_wrong_numbers(self):
            self.assertEqual(square(mx.array([3.0])).tolist(), [3])

    @pytest.mark.skipif(not mx.metal.is_available(), reason="needs a Mac")
    def test_crash():
        source = "y[thread_position_in_grid.x + (1ul << 44)] = x[0];"
        far = mx.fast.metal_kernel(name="far", input_names=["x"], output_names=["y"], source=source)
        mx.eval(far(inputs=[mx.ones(2)], grid=(2, 1, 1), threadgroup=(2, 1, 1), output_shapes=[(2,)],
                    output_dtypes=[mx.float32]))
"""


@pytest.fixture
def run(pytester, monkeypatch):
    for name in ("METALLOID_MPS", "METALLOID_MLX", "METALLOID_DEVICE", "METALLOID_VERIFY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(package_folder))

    def run(*options, **files):
        pytester.makepyfile(**{name: textwrap.dedent(text) for name, text in files.items()})
        return pytester.runpytest_subprocess("-p", "metalloid.pytest_plugin", *options)

    return run


def check_mps(result):
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "metalloid: 0.*, engine *; runs torch's device mps",
            "*Metal kernels launched*",
            "twice  grid of 5 x 1 x 1 threads*",
            ">    1 | kernel void twice(device float[*] x*",
            "metalloid: 2 tests launched kernels, 2 launches in all; 1 in processes that tests started",
        ]
    )


@needs_torch
def test_mps(run):
    check_mps(run("--metalloid-mps", conftest=MPS_CONFTEST, test_mac=MPS))


@needs_torch
def test_mps_from_the_ini_file_and_in_the_environment(run, pytester):
    pytester.makeini("[pytest]\nmetalloid_mps = true\naddopts = --metalloid-require-kernels")
    check_mps(run(conftest=MPS_CONFTEST, test_mac=MPS))


@needs_xdist
@needs_torch
def test_mps_with_xdist(run):
    check_mps(run("--metalloid-mps", "-n", "2", conftest=MPS_CONFTEST, test_mac=MPS))


OPERATORS = """
    import torch

    twice = "kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }"

    def test_metal():
        assert torch.ones(3, device="mps").sigmoid().sum().item() > 2

    def test_cpu():
        x = torch.ones(2, device="mps")
        torch.linalg.eigvals(torch.eye(2, device="mps"))
        torch.linalg.eigvals(torch.eye(3, device="mps"))
        torch.mps.compile_shader(twice).twice(x)

    def test_nothing():
        pass
"""


@needs_torch
@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_each_test_ran(run, pytester, workers):
    result = run("--metalloid-mps", "--metalloid-report", "out/ran.json", "-n", workers, test_ran=OPERATORS)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*fell back to the CPU, * calls (*", "metalloid: what each test ran is in *ran.json"])
    report = json.loads((pytester.path / "out" / "ran.json").read_text())
    metal, cpu = report["tests"]["test_ran.py::test_metal"], report["tests"]["test_ran.py::test_cpu"]
    assert any("sigmoid" in kernel for kernel in metal["operators"]) and not metal["kernels"]
    assert cpu["fallbacks"] == {"aten::_linalg_eigvals": 2}
    assert cpu["kernels"] == {"twice": 1} and not any("eigvals" in name for name in metal["fallbacks"])
    assert "test_ran.py::test_nothing" not in report["tests"]
    assert report["totals"]["kernels"] == {"twice": 1}


@needs_torch
@needs_mlx
@pytest.mark.parametrize(
    ("hidden", "module", "text"), [("mps", "torch.backends.mps", MPS), ("mlx", "mlx.core.metal", MLX)]
)
def test_a_suite_that_hides_the_device_is_an_error(run, hidden, module, text):
    conftest = f"import {module}\n{module}.is_available = lambda: False"
    result = run(f"--metalloid-{hidden}", conftest=conftest, test_hiding=text)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --metalloid-{hidden} has no effect*"])


@needs_torch
@needs_mlx
def test_without_the_option_the_suite_is_skipped(run):
    run(conftest=MPS_CONFTEST, test_mac=MPS, test_mlx=MLX).assert_outcomes(skipped=6)


def check_mlx(result):
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["metalloid: 0.*, engine *; runs MLX's gpu"])
    text = result.stdout.str()
    assert "- Metal kernels launched -" in text and "y[i] = x[i] * x[i];" in text
    assert "Metal kernel 'custom_kernel_far" in text and "y[thread_position_in_grid.x + (1ul << 44)] = x[0];" in text
    assert len(re.findall(r"^>    \d", text, re.MULTILINE)) == 2


@needs_mlx
def test_mlx(run):
    check_mlx(run("--metalloid-mlx", test_mlx=MLX))


@needs_xdist
@needs_mlx
def test_mlx_with_xdist(run):
    check_mlx(run("--metalloid-mlx", "-n", "2", test_mlx=MLX))


@needs_torch
@needs_mlx
def test_both(run):
    result = run("--metalloid-mps", "--metalloid-mlx", conftest=MPS_CONFTEST, test_mac=MPS, test_mlx=MLX)
    result.assert_outcomes(passed=3, failed=3)


@pytest.mark.parametrize(("option", "package"), [("--metalloid-mps", "torch"), ("--metalloid-mlx", "mlx")])
def test_missing_package_is_a_usage_error(run, pytester, monkeypatch, option, package):
    """A Python that has nothing but pytest and this package."""
    site = pytester.path / "site"
    site.mkdir()
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py"):
        path = pathlib.Path(importlib.util.find_spec(name).origin)
        path = path.parent if path.name == "__init__.py" else path
        (site / path.name).symlink_to(path)
        for information in path.parent.glob(f"{name}-*.dist-info"):
            (site / information.name).symlink_to(information)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), str(package_folder)]))
    pytester.makepyfile("def test(): pass")
    command = [sys.executable, "-S", "-m", "pytest", "-p", "metalloid.pytest_plugin"]
    assert pytester.run(*command).ret == 0
    result = pytester.run(*command, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option} needs {package}, which * does not have (pip install *{package}*)"])
