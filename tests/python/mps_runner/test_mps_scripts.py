"""python -m metalloid.mps: scripts that ask for device "mps", and the documentation's example."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import torch_processes
from conftest import root

torch = pytest.importorskip("torch")


def python(*arguments, check=True, cwd=None, **environment):
    """Output of a Python process with the built package."""
    package = pathlib.Path(os.environ.get("METALLOID_BUILD", root / "build")) / "python"
    variables = {**os.environ, "PYTHONPATH": str(package), **environment}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, env=variables, cwd=cwd)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def runner(*arguments, cwd=None):
    """Output of the runner, in a process that has torch already."""
    done = torch_processes.run(["-m", "metalloid.mps", *arguments], cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines(code):
    """What the code prints, one entry per line, when it runs as a Mac's script would."""
    return runner("-c", "import torch\n" + code).splitlines()


def test_documentation_example():
    text = (root / "docs" / "coming-from-pytorch.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert python("-c", code).stdout == "Index 5000 exceeds limit 1000\n"


def test_devices_of_tensors():
    assert lines(
        """
x = torch.arange(6.0, device="mps")
print(x.device, (x + 1).device, x[2:].device, x.to("cpu").device, x.cpu().to("mps").device, torch.zeros(2).device)
print(torch.zeros_like(x).device, x.new_ones(2).device, torch.stack([x, x]).device, x.is_mps, x.is_cpu)
print(torch.tensor([1.0], device=torch.device("mps")), x.sum())
with torch.device("mps"):
    print(torch.ones(2).device)
torch.set_default_device("mps")
print(torch.ones(2).device)
"""
    ) == [
        "mps:0 mps:0 mps:0 cpu mps:0 cpu",
        "mps:0 mps:0 mps:0 True False",
        "tensor([1.], device='mps:0') tensor(15., device='mps:0')",
        "mps:0",
        "mps:0",
    ]


def test_moving_copies():
    assert lines(
        """
x = torch.zeros(2)
y = x.to("mps"); y += 1
z = y.cpu(); z += 1
print(x.tolist(), y.tolist(), z.tolist(), y.to("mps") is y)
"""
    ) == ["[0.0, 0.0] [1.0, 1.0] [2.0, 2.0] True"]


def test_kernels_modules_and_gradients():
    assert lines(
        """
lib = torch.mps.compile_shader('''
#include <c10/metal/special_math.h>
kernel void bell(device float* y, constant float* x, uint i [[thread_position_in_grid]]) { y[i] = c10::metal::erf(x[i]); }
kernel void slope(device float* g, constant float* x, constant float* up, uint i [[thread_position_in_grid]])
{ g[i] = up[i] * 1.12837917f * metal::exp(-x[i] * x[i]); }
''')
class Bell(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        lib.bell(y, x)
        ctx.save_for_backward(x)
        return y
    @staticmethod
    def backward(ctx, up):
        (x,) = ctx.saved_tensors
        g = torch.empty_like(x)
        lib.slope(g, x, up.contiguous())
        return g
model = torch.nn.Linear(4, 4).to("mps")
x = torch.randn(3, 4, device="mps")
Bell.apply(model(x)).sum().backward()
ours = model.weight.grad.clone()
model.zero_grad()
torch.erf(model(x)).sum().backward()
print(ours.device, torch.allclose(ours, model.weight.grad, rtol=1e-4, atol=1e-6))
print({p.device.type for p in model.parameters()}, {v.device.type for v in model.state_dict().values()})
"""
    ) == ["mps:0 True", "{'mps'} {'mps'}"]


def test_the_macs_errors():
    assert lines(
        """
import numpy
lib = torch.mps.compile_shader("kernel void f(device float* x, constant float& v, uint i [[thread_position_in_grid]]) { x[i] = v; }")
x = torch.zeros(3, device="mps")
lib.f(x, torch.tensor(2.5, dtype=torch.float64))
print(x.tolist())
for attempt in (lambda: lib.f(torch.zeros(3), 1.0), lambda: lib.f(numpy.zeros(3), 1.0), lambda: x + torch.zeros(3),
                lambda: x.numpy(), lambda: x.double(), lambda: torch.zeros(3, device="mps", dtype=torch.float64),
                lambda: lib.g, lambda: torch.mps.compile_shader("nonsense")):
    try:
        attempt()
        print("no error")
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0][:40].strip())
"""
    ) == [
        "[2.5, 2.5, 2.5]",
        "RuntimeError Passed CPU tensor to MPS op",
        "RuntimeError Unsupported argument type",
        "RuntimeError Expected all tensors to be on the same d",
        "TypeError can't convert mps:0 device type tensor t",
        "TypeError Cannot convert a MPS Tensor to float64 d",
        "TypeError Cannot convert a MPS Tensor to float64 d",
        "RuntimeError Failed to create function state object f",
        "SyntaxError program_source:1:1: error: unknown type",
    ]


def test_backend_questions():
    assert lines(
        """
print(torch.backends.mps.is_available(), torch.backends.mps.is_built(), torch.mps.device_count())
torch.mps.manual_seed(3); a = torch.rand(2, device="mps")
torch.manual_seed(3); b = torch.rand(2, device="mps")
print(torch.equal(a, b), torch.rand(2, device="mps", generator=torch.Generator(device="mps").manual_seed(1)).device)
start, end = torch.mps.Event(enable_timing=True), torch.mps.Event(enable_timing=True)
start.record(); end.record(); torch.mps.synchronize()
print(start.elapsed_time(end) >= 0, torch.mps.current_allocated_memory() > 0)
torch.mps.empty_cache()
"""
    ) == ["True True 1", "True mps:0", "True True"]


def test_error_buffer():
    assert lines(
        """
lib = torch.mps.compile_shader('''
#include <c10/metal/error.h>
kernel void f(device float* x, device c10::metal::ErrorMessages* e, uint i [[thread_position_in_grid]])
{ if (i == 2) TORCH_REPORT_ERROR(e, "Index ", i, " exceeds limit"); }
''')
lib.f(torch.zeros(4, device="mps"), error_buf_idx=1)
try: torch.mps.synchronize()
except torch.AcceleratorError as error: print(error)
"""
    ) == ["Index 2 exceeds limit"]


def test_threads_and_children():
    assert lines(
        """
import subprocess, sys, threading
thread = threading.Thread(target=lambda: print(torch.ones(1, device="mps").device))
thread.start(); thread.join()
print(subprocess.run([sys.executable, "-c", "import torch; print(torch.ones(1, device='mps').device)"],
                     capture_output=True, text=True).stdout.strip())
"""
    ) == ["mps:0", "mps:0"]


def test_script_and_module(tmp_path):
    (tmp_path / "neighbour.py").write_text("value = 7\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch, neighbour\n"
        "if __name__ == '__main__': print(sys.argv[1:], torch.ones(1, device='mps').device, neighbour.value)\n"
    )
    expected = "['--a', 'b'] mps:0 7\n"
    assert python("-m", "metalloid.mps", script, "--a", "b").stdout == expected
    assert python("-m", "metalloid.mps", "-m", "script", "--a", "b", cwd=tmp_path).stdout == expected
    assert python("-m", "metalloid.mps", check=False).returncode == 2
    assert "can't open file" in python("-m", "metalloid.mps", tmp_path / "missing.py", check=False).stderr


def test_plain_import_changes_nothing():
    code = (
        "import torch, metalloid, metalloid.mps\n"
        "assert not torch.backends.mps.is_available()\n"
        "try: torch.ones(1, device='mps')\n"
        "except (RuntimeError, NotImplementedError): print('no mps')\n"
    )
    assert python("-c", code).stdout == "no mps\n"


def test_asking_for_the_package_before_importing_it():
    code = "import importlib.util; importlib.util.find_spec('torch'); import torch; print(torch.backends.mps.is_available())"
    assert python("-m", "metalloid.mps", "-c", code).stdout == "True\n"


def test_optimisers_and_compile():
    assert lines(
        """
for name in ("SGD", "Adam", "AdamW", "RMSprop"):
    w = torch.nn.Parameter(torch.ones(2, device="mps"))
    optimiser = getattr(torch.optim, name)([w], lr=0.125)
    (w * w).sum().backward()
    optimiser.step()
    print(name, w.device, bool((w < 1).all()))
print(torch.compile(lambda x: 2 * x + 1, backend="eager")(torch.ones(2, device="mps")))
print(torch.accelerator.current_stream().device, torch.accelerator.current_device_index())
"""
    ) == [
        "SGD mps:0 True",
        "Adam mps:0 True",
        "AdamW mps:0 True",
        "RMSprop mps:0 True",
        "tensor([3., 3.], device='mps:0')",
        "mps:0 0",
    ]


def test_autocast():
    assert lines(
        """
linear = torch.nn.Linear(4, 4, device="mps")
x = torch.ones(2, 4, device="mps")
with torch.autocast("mps"):
    y = linear(x)
    print(y.dtype, y.device, torch.is_autocast_enabled("mps"))
    with torch.autocast("mps", enabled=False):
        print(linear(x).dtype)
    print(linear(x).dtype)
with torch.amp.autocast(device_type="mps", dtype=torch.bfloat16):
    y = linear(x)
y.float().sum().backward()
print(y.dtype, linear.weight.grad.dtype, linear(x).dtype, torch.is_autocast_enabled("mps"))


@torch.autocast("mps", dtype=torch.bfloat16)
def function(x):
    return x @ x.T


print(function(x).dtype)
try:
    with torch.autocast("mps"):
        raise ValueError
except ValueError:
    print(linear(x).dtype)
"""
    ) == [
        "torch.float16 mps:0 True",
        "torch.float32",
        "torch.float16",
        "torch.bfloat16 torch.float32 torch.float32 False",
        "torch.bfloat16",
        "torch.float32",
    ]


def test_function_transformations():
    assert lines(
        """
x = torch.ones(2, 3, device="mps")
print(torch.vmap(lambda row: row + torch.ones(3, device="mps"))(x).device)
print(torch.vmap(torch.func.grad(lambda row: (row * row).sum()))(x))
print(torch.func.hessian(lambda x: (x**3).sum())(x).device, torch.func.jvp(torch.sin, (x,), (x,))[1].device)
print(torch.vmap(lambda row: 2 * row)(torch.ones(2)).device)
"""
    ) == [
        "mps:0",
        "tensor([[2., 2., 2.],",
        "        [2., 2., 2.]], device='mps:0')",
        "mps:0 mps:0",
        "cpu",
    ]


def test_hooks():
    assert lines(
        """
x = torch.ones(2, device="mps", requires_grad=True)
w = torch.nn.Parameter(torch.ones(2, device="mps"))
y = x * w
y.register_hook(lambda gradient: print(gradient.device, (gradient + 1).device) or 2 * gradient)
w.register_post_accumulate_grad_hook(lambda w: print(w.device, w.grad.device, torch.zeros_like(w).device))
y.sum().backward()
print(x.grad)
c = torch.ones(2, requires_grad=True)
c.register_hook(hook=lambda gradient: print(gradient.device))
c.sum().backward()
"""
    ) == [
        "mps:0 mps:0",
        "mps:0 mps:0 mps:0",
        "tensor([2., 2.], device='mps:0')",
        "cpu",
    ]
