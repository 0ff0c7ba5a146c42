"""What kernels report with TORCH_REPORT_ERROR is raised by every call that waits for the device."""

import subprocess
import sys

import metalloid
import pytest

torch = pytest.importorskip("torch")

SOURCE = """
#include <c10/metal/error.h>
kernel void check(device float* x, device c10::metal::ErrorMessages* errors, uint i [[thread_position_in_grid]]) {
  if (i == 2) TORCH_REPORT_ERROR(errors, "Index ", i, " exceeds limit");
}
"""
DRAINING = {
    "item": lambda x: x[0].item(),
    "tolist": lambda x: x.tolist(),
    "cpu": lambda x: x.cpu(),
    "to": lambda x: x.to("cpu"),
    "to a device": lambda x: x.to(torch.device("cpu"), torch.float16),
    "to by keyword": lambda x: x.to(device="cpu"),
    "print": lambda x: print(x),
    "format": lambda x: f"{x[0]:.2f}",
    "bool": lambda x: bool(x[0]),
    "float": lambda x: float(x[0]),
    "int": lambda x: int(x[0]),
    "list": lambda x: list(map(float, x)),
    "in": lambda x: 1.0 in x,
    "equal": lambda x: torch.equal(x, x),
    "method equal": lambda x: x.equal(x),
    "allclose": lambda x: torch.allclose(x, x),
    "nonzero": lambda x: x.nonzero(),
    "where": lambda x: torch.where(x > 0),
    "mask": lambda x: x[x > 0],
    "unique": lambda x: torch.unique(x),
    "numpy": lambda x: x.numpy(force=True),
}
RUNNER = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from test_mps_draining import DRAINING, SOURCE
lib = torch.mps.compile_shader(SOURCE)
more = {
    "copy": lambda x: torch.zeros(4).copy_(x),
    "save": lambda x: torch.save(x, sys.argv[2]),
    "synchronize": lambda x: torch.mps.synchronize(),
    "accelerator": lambda x: torch.accelerator.synchronize(),
}
for name, drain in {**DRAINING, **more}.items():
    x = torch.zeros(4, device="mps")
    lib.check(x, error_buf_idx=1)
    y = (x + 1).to(torch.float16).view(2, 2)
    x.copy_(y.view(-1)), x[1:3], x.sum(), torch.where(x > 0, x, y.view(-1)), x.shape, x.device, y.to("mps")
    try:
        drain(x)
    except torch.AcceleratorError as error:
        assert str(error).splitlines()[0] == "Index 2 exceeds limit", error
        drain(x)  # once only
    else:
        print(name)
"""


@pytest.mark.parametrize("name", DRAINING)
def test_tensors_without_a_runner(name):
    x = torch.zeros(4)
    metalloid.compile_shader(SOURCE).check(x, error_buf_idx=1)
    y = (x + 1).to(torch.float16).view(2, 2)
    assert y.shape == (2, 2)
    with pytest.raises(torch.AcceleratorError, match="Index 2 exceeds limit"):
        DRAINING[name](x)
    DRAINING[name](x)
    metalloid.synchronize()
    assert torch._C._len_torch_function_stack() == 0


def test_other_modes_are_left_as_they_were():
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    x = torch.zeros(4)
    with Mode():
        metalloid.compile_shader(SOURCE).check(x, error_buf_idx=1)
    assert torch._C._len_torch_function_stack() == 0
    with pytest.raises(torch.AcceleratorError):
        metalloid.synchronize()


def test_runner(tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "metalloid.mps", "-c", RUNNER, str(__import__("pathlib").Path(__file__).parent),
         str(tmp_path / "x.pt")], capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert [line for line in result.stdout.splitlines() if "tensor" not in line] == []
