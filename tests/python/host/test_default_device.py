"""The device of kernels that name none, and what importing the package loads."""

import os
import pathlib
import subprocess
import sys

import numpy
import pytest
from conftest import root

import metalloid
from metalloid import _core

package = pathlib.Path(os.environ.get("METALLOID_BUILD", root / "build")) / "python"
USUAL = os.environ.get("METALLOID_DEVICE", "cpu")
SOURCE = "kernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }"


@pytest.fixture
def devices_of_launches():
    """A function that calls another one and says on which devices kernels ran."""

    def devices(function):
        _core.take_events()
        function()
        return [event["device"] for event in _core.take_events()[0]]

    _core.record(True)
    yield devices
    _core.record(False)
    metalloid.set_default_device(None)


def run(code, **environment):
    variables = {**os.environ, "PYTHONPATH": str(package), **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables)


def test_kernels_made_before_follow(devices_of_launches):
    x = numpy.zeros(4, numpy.float32)
    library = metalloid.compile_shader(SOURCE)
    kernel = library.one
    fixed = metalloid.compile_shader(SOURCE, device="cpu").one
    made = metalloid.fast.metal_kernel("two", [], ["y"], "y[thread_position_in_grid.x] = 2;")

    def launch():
        kernel(x)
        library.one(x)
        fixed(x)
        made(inputs=[], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)], output_dtypes=["float32"])

    assert devices_of_launches(launch) == [USUAL, USUAL, "cpu", USUAL]
    for engine in metalloid.engines():
        metalloid.set_default_device(engine)
        assert metalloid.default_device() == engine
        assert devices_of_launches(launch) == [engine, engine, "cpu", engine]
    metalloid.set_default_device(None)
    assert devices_of_launches(launch) == [USUAL, USUAL, "cpu", USUAL]


def test_unknown_device():
    with pytest.raises(ValueError, match="no device is named 'abacus'; there are: cpu, "):
        metalloid.set_default_device("abacus")
    assert metalloid.default_device() == USUAL


def test_engines_are_devices():
    names = [name for name, _ in metalloid.devices()]
    assert metalloid.engines() and set(metalloid.engines()) <= set(names) - {"cpu"}


def test_environment():
    engine = metalloid.engines()[-1]
    print_device = "import metalloid; print(metalloid.default_device())"
    assert run(print_device, METALLOID_DEVICE=engine).stdout == f"{engine}\n"
    failing = run(f"import metalloid; metalloid.compile_shader({SOURCE!r})", METALLOID_DEVICE="abacus")
    assert "no device is named 'abacus'; there are: cpu" in failing.stderr


def test_source_name():
    with pytest.raises(SyntaxError, match="^shaders/one.metal:1:1: error"):
        metalloid.compile_shader("wrong", source_name="shaders/one.metal")


def test_import_loads_nothing_heavy():
    code = """
import sys, metalloid
assert not {"metalloid._core", "numpy", "torch", "mlx"} & set(sys.modules), sorted(sys.modules)
assert {"compile_shader", "fast", "TorchMetalKernel", "__version__"} <= set(dir(metalloid))
from metalloid import Error, fast
assert metalloid.__version__ and issubclass(Error, RuntimeError) and fast.metal_kernel
assert not hasattr(metalloid, "gpu")
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
