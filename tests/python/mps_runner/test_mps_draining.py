"""What kernels report with TORCH_REPORT_ERROR is raised by every call that waits for the device."""

import pickle
import subprocess
import sys

import pytest

import metalloid

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
    "slice": lambda x: torch.arange(4.0)[: x[0].long()],
    "shape": lambda x: torch.zeros(x[0].long()),
    "range": lambda x: torch.arange(x[0]),
    "numbers in a list": lambda x: torch.tensor([x[0], x[1]]),
    "mask of index_put_": lambda x: x.index_put_((x > 0,), x[:1].clone()),
    "list of truth values": lambda x: x[[True, False, True, False]],
    "operator": lambda x: torch.ops.aten.item(x[0]),
    "operator with a shape": lambda x: torch.ops.aten.nonzero(x),
    "one_hot": lambda x: torch.nn.functional.one_hot(x.long()),
    "repeat_interleave": lambda x: x.repeat_interleave(x.long()),
    "sparse": lambda x: x.to_sparse(),
    "singular": lambda x: torch.linalg.inv(torch.diag(x + 1)),
    "condition": lambda x: 0 <= x[0] <= 1,
    "pickle": lambda x: pickle.dumps(x),
    "subscript": lambda x: [1, 2][x[0].long()],
    "module": lambda x: print(torch.nn.Parameter(x)),
    "dlpack": lambda x: x.__dlpack__(),
}
RUNNER = """
import copy, sys, torch
sys.path.insert(0, sys.argv[1])
from test_mps_draining import DRAINING, SOURCE
lib = torch.mps.compile_shader(SOURCE)
more = {
    "copy": lambda x: torch.zeros(4).copy_(x),
    "save": lambda x: torch.save(x, sys.argv[2]),
    "part": lambda x: torch.zeros(4).__setitem__(slice(2), x[:2]),
    "copying operator": lambda x: torch.ops.aten.copy_(torch.zeros(4), x),
    "converting operator": lambda x: torch.ops.aten._to_copy(x, device=torch.device("cpu")),
    "type of another": lambda x: x.type_as(torch.zeros(1)),
    "type": lambda x: x.type("torch.FloatTensor"),
    "type as a class": lambda x: x.type(torch.FloatTensor),
    "as_tensor": lambda x: torch.as_tensor(x, device="cpu"),
    "asarray": lambda x: torch.asarray(x, device="cpu"),
    "module to the CPU": lambda x: torch.nn.ParameterList([torch.nn.Parameter(x)]).cpu(),
    "storage": lambda x: x.untyped_storage().tolist(),
    "storage to the CPU": lambda x: x.untyped_storage().cpu(),
    "typed storage": lambda x: x.storage()[0],
    "copy of a storage": lambda x: torch.UntypedStorage(16).copy_(x.untyped_storage()),
    "dlpack's function": lambda x: torch.utils.dlpack.to_dlpack(x),
    "event": lambda x: event().synchronize(),
    "time between events": lambda x: event().elapsed_time(event()),
    "stream": lambda x: torch.mps.current_stream().synchronize(),
    "synchronize": lambda x: torch.mps.synchronize(),
    "accelerator": lambda x: torch.accelerator.synchronize(),
}
def event():
    event = torch.mps.event.Event(enable_timing=True)
    event.record()
    return event
for name, drain in {**DRAINING, **more}.items():
    x = torch.zeros(4, device="mps")
    lib.check(x, error_buf_idx=1)
    y = (x + 1).to(torch.float16).view(2, 2)
    x.copy_(y.view(-1)), x[1:3], x.sum(), torch.where(x > 0, x, y.view(-1)), x.shape, x.device, y.to("mps")
    copy.deepcopy(x), x.masked_fill(x > 0, 1), torch.tensor(x), x[1:][:2], y.type_as(x)
    torch.tensor([1, 2])[torch.tensor(1)].item(), print(torch.zeros(2)), torch.save(torch.zeros(2), sys.argv[2])
    try:
        drain(x)
    except torch.AcceleratorError as error:
        assert str(error).splitlines()[0] == "Index 2 exceeds limit", error
        drain(x)  # once only
    else:
        print("not raised:", name)
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
         str(tmp_path / "x.pt")], capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert [line for line in result.stdout.splitlines() if line.startswith("not raised")] == []
