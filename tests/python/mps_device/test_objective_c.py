"""Host files in Objective-C++, as PyTorch's own are, with the runtime and the headers that Metalloid has for them."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import opinfo_first  # noqa: F401
import pytest
import torch

from metalloid.mps import _plugin
from metalloid.mps._plugin import objective_c
from metalloid.mps._plugin.compile import Unit, build

HERE = pathlib.Path(__file__).parent


def load(file: pathlib.Path) -> None:
    unit = Unit(file, objective_c.INCLUDE, objective_c.FLAGS, objective_c.COMPILER)
    _plugin.load_library(f"libmetalloid_{file.stem}.so", build(f"libmetalloid_{file.stem}.so", [unit]))


@pytest.fixture(scope="module")
def operators():
    _plugin.device()
    load(HERE / "objective_c" / "operators.mm")
    return torch.ops.metalloid_objective_c_test


def test_argument_lists_and_blocks(operators):
    values = torch.arange(10.0)
    indices = torch.tensor([9, 0, 3])
    picked = operators.pick(values.to("mps"), indices.to("mps"), 1.0, 5.0)
    assert torch.equal(picked.cpu(), torch.tensor([5.0, 1.0, 3.0]))
    weight = torch.arange(10.0).to("mps")
    picked = operators.pick(values.to("mps"), indices.to("mps"), 1.0, 5.0, weight)
    assert torch.equal(picked.cpu(), torch.tensor([45.0, 0.0, 9.0]))


def test_kernels_errors_come_with_synchronisation(operators):
    operators.pick(torch.arange(4.0).to("mps"), torch.tensor([1, 7]).to("mps"), 0.0, 9.0)
    with pytest.raises(torch.AcceleratorError, match="index 7 out of bounds for size 4"):
        torch.zeros(1, device="mps").cpu()
    torch.zeros(1, device="mps").cpu()


def test_elementwise_kernels(operators):
    x = torch.arange(24.0).reshape(4, 6)
    out = torch.empty(4, 6, device="mps")
    operators.shifted(out, x.to("mps"), x.to("mps"))
    assert torch.equal(out.cpu(), 2 * x + 1)
    operators.shifted(out, x.to("mps"), torch.tensor(2))
    assert torch.equal(out.cpu(), x + 3)
    turned = x.to("mps").t().contiguous().t()
    operators.strided(out, turned, x.to("mps"))
    assert torch.equal(out.cpu(), 2 * x + 1)
    operators.affine(out, x.to("mps"), 0.5, 3)
    assert torch.equal(out.cpu(), x * 0.5 + 3)
    operators.affine(out.t(), x.to("mps").t(), 2.0, 1)
    assert torch.equal(out.cpu(), x * 2 + 1)


def test_metal_without_pytorch(operators):
    out = operators.metal(torch.zeros(7, device="mps"), 3.0)
    assert torch.equal(out.cpu(), torch.full((7,), 7.0))


def test_threadgroup_memory_and_grids_that_groups_do_not_fill(operators):
    out = torch.empty(5, 7, device="mps")
    operators.fill_2d(out, 1.5)
    assert torch.equal(out.cpu(), (torch.arange(7) + 1.5).expand(5, 7))


def test_lists_of_tensors_in_argument_buffers():
    _plugin.device()
    load(HERE / "objective_c" / "argument_buffers.mm")
    operators = torch.ops.metalloid_argument_buffers
    inputs = [torch.arange(40.0), torch.arange(9.0)[2:], torch.arange(3.0)]
    there = [tensor.to("mps") for tensor in inputs]
    there[1] = torch.arange(9.0).to("mps")[2:]
    results = [torch.empty_like(tensor) for tensor in there]
    operators.scale_all(there, results, torch.tensor([2.5]).to("mps"))
    for ours, tensor in zip(results, inputs, strict=True):
        assert torch.equal(ours.cpu(), tensor * 2.5)
    with pytest.raises(IndexError, match="has 7 places, not one of index 7"):
        operators.wrong_index()
    with pytest.raises(ValueError, match=r"kernel 'scale_all' has no structure at buffer\(1\)"):
        operators.not_a_structure()
    assert operators.turns(5) == 10
    assert operators.is_family(1007) and operators.is_family(5001) and not operators.is_family(1010)


def test_foundation(operators):
    assert operators.foundation(4) == "14 (1, two) 4 c 0.50!"


def test_what_is_not_here_is_named(operators):
    with pytest.raises(NotImplementedError, match="MPSGraph is part of Apple's MetalPerformanceShaders"):
        operators.graph()
    with pytest.raises(NotImplementedError, match=r"\+\[MPSMatrix alloc\]: MPSMatrix is Apple's own code"):
        operators.matrix()
    with pytest.raises(NotImplementedError, match=r"\[NSConstantString objectForKey:\]: unrecognized selector .*: Metalloid does not have"):
        operators.nobody()


def test_exceptions_pass_through(operators):
    assert operators.caught(torch.zeros(1, device="mps")) == 1


STUB = """
import sys
import torch
sys.path.insert(0, sys.argv[1])
from test_objective_c import HERE, _plugin, load
_plugin.device()
load(HERE / "objective_c" / "operators.mm")
load(HERE / "objective_c" / "BinaryKernel.mm")
a, b = torch.randn(5, 6), torch.randn(5, 6)
out = torch.empty(5, 6, device="mps")
torch.ops.metalloid_objective_c_test.atan2(out, a.to("mps"), b.to("mps"))
torch.testing.assert_close(out.cpu(), torch.atan2(a, b))
print("right")
"""


def test_a_stub_registered_by_a_host_file():
    """The file is what a pull request for atan2 has, but for the name of its operator's kernel.

    In a process of its own: the stub takes the place of Metalloid's.
    """
    run = subprocess.run([sys.executable, "-c", STUB, str(HERE)], capture_output=True, text=True, timeout=1200)
    assert run.stdout.splitlines()[-1:] == ["right"], run.stdout + run.stderr


@pytest.mark.parametrize("text,message", [
    ("#include <torch/library.h>\nint x = y;", r"broken.mm:2:9: error: use of undeclared identifier 'y'"),
    ("#import <CoreImage/CoreImage.h>", r"broken.mm:1:9: fatal error: 'CoreImage/CoreImage.h' file not found"),
    ("#import <Foundation/Foundation.h>\n@interface Other : NSObject\n@end\n"
     "id make(void) { return [Other new]; }", "there is no Objective-C class Other"),
])  # fmt: skip
def test_mistakes_in_host_files(tmp_path, operators, text, message):
    (tmp_path / "broken.mm").write_text(text)
    with pytest.raises(_plugin.CannotBuild, match=message):
        load(tmp_path / "broken.mm")


SCRIPT = """
import pathlib, sys
import torch
from torch.utils.cpp_extension import load
source, folder = sys.argv[1:]
load("metalloid_softshrink", [source], build_directory=folder, is_python_module=False,
     extra_cflags=["-Wall"], extra_ldflags=["-framework", "Metal", "-framework Foundation"])
x = torch.randn(33, device="mps")
for dtype in (torch.float32, torch.float16):
    shrunk = torch.ops.metalloid_softshrink.softshrink(x.to(dtype), 0.5)
    torch.testing.assert_close(shrunk.cpu(), torch.nn.functional.softshrink(x.cpu().to(dtype), 0.5))
print("right")
"""


@pytest.mark.parametrize("flags", [[], ["-fobjc-arc"]], ids=["", "arc"])
def test_an_extension_is_built_from_a_host_file(tmp_path, flags):
    """With and without automatic reference counting."""
    script = SCRIPT.replace('"-Wall"', ", ".join(f'"{flag}"' for flag in ["-Wall", *flags]))
    run = subprocess.run(
        [sys.executable, "-m", "metalloid.mps", "-c", script, str(HERE / "objective_c" / "softshrink.mm"), str(tmp_path)],
        capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    assert run.stdout.splitlines()[-1:] == ["right"], run.stdout + run.stderr
