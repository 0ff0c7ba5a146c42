"""Core AI's converter on Metalloid's TorchMetalKernel, and pytest --metalloid-verify-coreai on Core AI's own."""

import warnings

import pytest

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    coreai_torch = pytest.importorskip("coreai_torch")

from metalloid import MetalParameter, TorchMetalKernel  # noqa: E402

pytest_plugins = "pytester"

ID = [MetalParameter("id", "uint", "thread_position_in_grid")]


def axpy(x: torch.Tensor, y: torch.Tensor, c: float) -> torch.Tensor:
    return x + c * y


def sin_and_cos(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.sin(), x.cos()


AXPY = TorchMetalKernel("conversion_axpy", ["x", "y", "c"], ["out"], "out[id] = x[id] + c * y[id];", axpy, ID)
SIN_AND_COS = TorchMetalKernel(
    "conversion_sin_and_cos", ["x"], ["s", "c"], "s[id] = sin(x[id]); c[id] = cos(x[id]);", sin_and_cos, ID
)


class Model(torch.nn.Module):
    def forward(self, x, y):
        launch = dict(threads_per_grid=(x.numel(), 1, 1), threads_per_thread_group=(32, 1, 1))
        z = AXPY(x, y, 2.5, result_shapes=[list(x.shape)], **launch)
        s, c = SIN_AND_COS(z, result_shapes=[list(x.shape)] * 2, **launch)
        return s + c


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_conversion(is_dynamic):
    x, y = torch.arange(8.0), torch.ones(8)
    shapes = ({0: torch.export.Dim("n", min=2)},) * 2 if is_dynamic else None
    program = torch.export.export(Model().eval(), (x, y), dynamic_shapes=shapes)
    z = x + 2.5 * y
    torch.testing.assert_close(program.module()(x, y), z.sin() + z.cos(), rtol=1e-4, atol=1e-5)
    converter = coreai_torch.TorchConverter()
    assert converter.register_custom_kernels([AXPY, SIN_AND_COS]) is converter
    converter.add_exported_program(program.run_decompositions(coreai_torch.get_decomp_table()))
    text = str(converter.to_coreai())
    assert text.count("coreai.metal4_kernel") == 2
    assert "out[id] = x[id] + c * y[id];" in text and "float c = 2.5f;" in text


def test_programs_are_converted_as_they_are_exported():
    """As Core AI's documentation prints it: export, register, add."""
    program = torch.export.export(Model().eval(), (torch.arange(8.0), torch.ones(8)))
    converter = coreai_torch.TorchConverter()
    converter.register_custom_kernels([AXPY, SIN_AND_COS])
    assert converter.add_exported_program(exported_program=program) is converter
    assert str(converter.to_coreai()).count("coreai.metal4_kernel") == 2


def test_exported_programs_run_the_metal_source():
    def defn(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    kernel = TorchMetalKernel("conversion_runs", ["x"], ["y"], "y[id] = x[id] + 2;", defn, ID, verify=False)

    class Calls(torch.nn.Module):
        def forward(self, x):
            return kernel(x, threads_per_grid=(4, 1, 1), threads_per_thread_group=(4, 1, 1), result_shapes=[[4]])

    program = torch.export.export(Calls().eval(), (torch.zeros(4),))
    assert program.module()(torch.zeros(4)).tolist() == [2] * 4


SUITE = """
import torch
from coreai_torch import TorchMetalKernel
from coreai.authoring import MetalParameter

def defn(x: torch.Tensor) -> torch.Tensor:
    return x * 2

def kernel(name, body):
    return TorchMetalKernel(name, ["x"], ["y"], body, defn, [MetalParameter("id", "uint", "thread_position_in_grid")])

def call(kernel, x):
    return kernel(x, threads_per_grid=(4, 1, 1), threads_per_thread_group=(4, 1, 1), result_shapes=[[4]])

def test_right():
    assert call(kernel("suite_right", "y[id] = x[id] * 2;"), torch.ones(4)).tolist() == [2] * 4

def test_wrong():
    assert call(kernel("suite_wrong", "y[id] = x[id] * 3;"), torch.ones(4)).tolist() == [2] * 4

def test_export_is_traced_only():
    wrong = kernel("suite_exported", "y[id] = x[id] * 3;")
    class Model(torch.nn.Module):
        def forward(self, x):
            return call(wrong, x)
    torch.export.export(Model().eval(), (torch.ones(4),))
"""


def test_every_call_of_a_suite(pytester):
    pytester.makepyfile(SUITE)
    options = ("-p", "metalloid.pytest_plugin", "-W", "ignore")
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=3)
    for how in (("--metalloid-verify-coreai",), ("-o", "metalloid_verify_coreai=1")):
        result = pytester.runpytest_subprocess(*options, *how)
        result.assert_outcomes(passed=2, failed=1)
        text = result.stdout.str()
        assert "kernel 'suite_wrong': 1 of 1 results differ from torch_defn" in text
        assert "verifies Core AI's kernels" in text
