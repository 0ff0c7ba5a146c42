"""python -m metalloid.mps: what PyTorch itself does with tensors on "mps": saving, hooks, own operators, tracing."""

import pytest

pytest.importorskip("torch")

from test_mps_scripts import lines, runner


def test_saving_and_loading():
    assert lines(
        """
import copy, io, pickle
saved = io.BytesIO()
torch.save({"a": torch.ones(2, device="mps"), "b": torch.ones(2)}, saved)
for where in (None, "mps", "cpu", {"mps": "cpu"}, lambda storage, location: storage):
    saved.seek(0)
    loaded = torch.load(saved, map_location=where)
    print(loaded["a"].device, loaded["b"].device)
print(pickle.loads(pickle.dumps(torch.ones(2, device="mps"))).device)
sparse = torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,), device="mps")
saved = io.BytesIO()
torch.save(sparse, saved)
saved.seek(0)
for again in (torch.load(saved), copy.deepcopy(sparse)): print(again.device, again.to_dense().tolist())
"""
    ) == ["mps:0 cpu", "mps:0 mps:0", "cpu cpu", "cpu cpu", "cpu cpu", "mps:0", "mps:0 [1.0, 0.0, 2.0]", "mps:0 [1.0, 0.0, 2.0]"]


def test_generators_types_and_indices():
    assert lines(
        """
generator = torch.Generator("mps")
print(generator.device, isinstance(generator, torch.Generator), torch.Generator().device)
state = generator.get_state(); a = torch.rand(2, generator=generator, device="mps")
generator.set_state(state); print(torch.equal(a, torch.rand(2, generator=generator, device="mps")))
print(a.type(), a.cpu().type(), torch.as_tensor(a, device="cpu").device, torch.asarray(a).device)
for attempt in (lambda: torch.zeros(1, device="mps:1"), lambda: torch.zeros(1).to(torch.device("mps", 1))):
    try: attempt()
    except RuntimeError as error: print(error)
"""
    ) == [
        "mps:0 True cpu",
        "True",
        "torch.mps.FloatTensor torch.FloatTensor cpu mps:0",
        "device 'mps:1' is out of range: there is one MPS device, mps:0",
        "device 'mps:1' is out of range: there is one MPS device, mps:0",
    ]


def test_copying_into_host_tensors_leaves_them_there():
    assert lines(
        """
x, host = torch.ones(2, device="mps"), torch.zeros(2)
print(host.copy_(x).device, host.device)
host[:] = x
print(host.device, host.numpy())
"""
    ) == ["cpu cpu", "cpu [1. 1.]"]


def test_hooks_of_modules_functions_and_saved_tensors():
    assert lines(
        """
x = torch.ones(2, device="mps", requires_grad=True)
module = torch.nn.Linear(2, 2, device="mps")
module.register_full_backward_hook(lambda m, inputs, outputs: print(inputs[0].device, outputs[0].device))
module(x * 2).sum().backward()
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return 2 * x
    @staticmethod
    def backward(ctx, up):
        print(up.device, torch.empty_like(up).device)
        return 2 * up
Twice.apply(x).sum().backward()
Twice.apply(torch.ones(2, requires_grad=True)).sum().backward()
def pack(tensor):
    print(tensor.device)
    return tensor
with torch.autograd.graph.saved_tensors_hooks(pack, pack): (x * x.detach()).sum().backward()
with torch.autograd.graph.save_on_cpu(): (x * x).sum().backward()
print(x.grad.device)
"""
    ) == ["mps:0 mps:0", "mps:0 mps:0", "cpu cpu", "mps:0", "mps:0", "mps:0"]


def test_operators_of_the_script():
    assert lines(
        """
@torch.library.custom_op("demo::twice", mutates_args=(), device_types="mps")
def twice(x: torch.Tensor) -> torch.Tensor:
    print("twice", x.device)
    return 2 * x
twice.register_fake(torch.empty_like)
twice.register_autograd(lambda ctx, up: print("backward", up.device) or 2 * up)
x = torch.ones(2, device="mps", requires_grad=True)
twice(x).sum().backward()
try: twice(torch.ones(2))
except NotImplementedError as error: print(str(error)[:50])

@torch.library.custom_op("demo::where", mutates_args=())
def where(x: torch.Tensor) -> torch.Tensor:
    return x + 1
where.register_kernel("cpu")(lambda x: x + 2)
where.register_kernel("mps")(lambda x: x + 3)
print(where(torch.zeros(1)), where(torch.zeros(1, device="mps")))
library = torch.library.Library("demo", "FRAGMENT")
library.define("four(Tensor x) -> Tensor")
library.impl("four", lambda x: x + 4, "MPS")
print(torch.ops.demo.four(torch.zeros(1, device="mps")))
"""
    ) == [
        "twice mps:0",
        "backward mps:0",
        "Could not run 'demo::twice' with arguments from th",
        "tensor([2.]) tensor([3.], device='mps:0')",
        "tensor([4.], device='mps:0')",
    ]


def test_tracing():
    assert lines(
        """
import warnings
warnings.simplefilter("ignore")
module, x = torch.nn.Linear(2, 2, device="mps"), torch.ones(1, 2, device="mps")
print(torch.jit.script(module)(x).device, torch.jit.trace(module, x)(x).device)
import io
saved = io.BytesIO()
torch.jit.save(torch.jit.script(module), saved)
saved.seek(0)
loaded = torch.jit.load(saved, map_location="mps")
print(loaded.weight.device, loaded(x).device)
print(torch.export.export(module, (x,)).module()(x).device)
@torch.compile(backend="eager")
def made(x): return torch.zeros(2, device=x.device) + x
print(made(x).device)
"""
    ) == ["mps:0 mps:0", "mps:0 mps:0", "mps:0", "mps:0"]


def test_packed_sequences():
    assert lines(
        """
packed = torch.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 4, device="mps"), torch.tensor([3, 2]), batch_first=True)
output, state = torch.nn.GRU(4, 5, device="mps")(packed)
padded, lengths = torch.nn.utils.rnn.pad_packed_sequence(output)
print(padded.device, lengths.device, state.device)
"""
    ) == ["mps:0 cpu mps:0"]


def test_the_accelerator():
    assert lines(
        """
print(torch.accelerator.current_accelerator(), torch.get_device_module() is torch.mps, torch.accelerator.device_count())
with torch.accelerator.device_index(0): print(torch.accelerator.memory_allocated())
torch.accelerator.synchronize()
torch.accelerator.empty_cache()
for name in torch.mps.__all__: getattr(torch.mps, name)
import os, tempfile
os.chdir(tempfile.mkdtemp())  # for the trace
with torch.mps.profiler.profile(mode="interval"): torch.ones(1, device="mps")
"""
    ) == ["mps True 1", "0"]


def test_workers(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        """
import torch
from torch.utils.data import DataLoader, TensorDataset
def work(queue): queue.put(str(torch.ones(1, device="mps").device))
if __name__ == "__main__":
    for batch, in DataLoader(TensorDataset(torch.ones(4)), 2, num_workers=1, pin_memory=True):
        print(batch.device, batch.to("mps", non_blocking=True).device)
    context = torch.multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    print(queue.get(timeout=1200))
    process.join()
"""
    )
    assert runner(script).splitlines() == ["cpu mps:0", "cpu mps:0", "mps:0"]


def test_tensors_do_not_go_to_other_processes(tmp_path):
    """What waits for one gets an error: the queue's own thread would only print one, and the script hang."""
    script = tmp_path / "script.py"
    script.write_text(
        """
import torch
from torch.utils.data import DataLoader, Dataset
class Ones(Dataset):
    def __len__(self): return 4
    def __getitem__(self, index): return torch.ones(3, device="mps"), index
def work(*arguments): pass
def attempt(action):
    try: print(action())
    except RuntimeError as error: print("send tensor.cpu()" in str(error), "only available on CPU" in str(error))
if __name__ == "__main__":
    attempt(lambda: next(iter(DataLoader(Ones(), 2, num_workers=1))))
    context = torch.multiprocessing.get_context("spawn")
    attempt(context.Process(target=work, args=(torch.ones(1, device="mps"),)).start)
    attempt(lambda: context.Pipe()[1].send([torch.nn.Parameter(torch.ones(1, device="mps"))]))
    queue = context.Queue()
    queue.put(torch.ones(2))
    queue.put(torch.ones(2, device="mps"))
    attempt(lambda: queue.get(timeout=1200))
    attempt(lambda: queue.get(timeout=1200))
"""
    )
    expected = ["True True", "True True", "True True", "tensor([1., 1.])", "True True"]
    assert runner(script).splitlines() == expected


def test_modules_whose_shapes_come_with_the_first_input():
    assert lines(
        """
module = torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.LazyBatchNorm1d()).to("mps")
print(module(torch.ones(2, 4, device="mps")).device, module[0].weight.device, module[1].running_mean.device)
print(torch.nn.LazyLinear(3, device="mps")(torch.ones(2, 4, device="mps")).device)
"""
    ) == ["mps:0 mps:0 mps:0", "mps:0"]


def test_packages_that_replace_methods_of_tensors():
    assert lines(
        """
original_to, original_repr = torch.Tensor.to, torch.Tensor.__repr__
calls = []
def counting_to(self, *args, **kwargs):
    calls.append(args)
    return original_to(self, *args, **kwargs)
torch.Tensor.to = counting_to
torch.Tensor.__repr__ = lambda self, **keywords: "<" + original_repr(self, **keywords) + ">"
x = torch.ones(2).to("mps")
print(x.device, calls)
print(x)
"""
    ) == ["mps:0 [('mps',)]", "<tensor([1., 1.], device='mps:0')>"]


def test_compiled_functions_run_as_they_are():
    assert lines(
        """
import warnings
from torch.nn.attention.flex_attention import flex_attention
warnings.simplefilter("ignore")
@torch.compile
class Positions(torch.nn.Module):
    def forward(self, x):
        device = x.device
        _, size = x.size()
        return torch.arange(size, device=device)
x = torch.ones(2, 4, device="mps")
print(Positions()(x).device, torch.compile(torch.sin, fullgraph=True)(x).device)
print(torch.cond(x.sum() > 2, torch.sin, torch.cos, (x,)).device)
print(flex_attention(*[torch.ones(1, 1, 4, 8, device="mps")] * 3).device)
module = torch.nn.Linear(4, 4, device="mps")
module.compile()
module(x).sum().backward()
print(module.weight.grad.device)
"""
    ) == ["mps:0 mps:0", "mps:0", "mps:0", "mps:0"]


def test_memory():
    assert lines(
        """
before = torch.mps.current_allocated_memory()
x = torch.zeros(1024, device="mps")
y = x[5:]
print(torch.mps.current_allocated_memory() - before, torch.mps.driver_allocated_memory() - before)
del x
print(torch.mps.current_allocated_memory() - before)
host = torch.mps._host_alias_storage(y.untyped_storage()) if hasattr(torch.mps, "_host_alias_storage") else None
if host is not None:
    host[20] = 7
    assert y.view(torch.uint8)[0] == 7 and torch.tensor([]).set_(host).device.type == "cpu"
del y, host
print(torch.mps.current_allocated_memory() - before)
"""
    ) == ["4096 4096", "4096", "0"]


def test_what_has_no_counterpart_says_so():
    assert lines(
        """
attempts = [torch.mps.load_metallib, lambda source: torch.mps.load_metallib(bytes(source.encode()))]
for attempt in attempts:
    try: attempt("a.metallib")
    except RuntimeError as error: print(error)
try: torch.mps.load_metallib(5)
except TypeError as error: print(error)
"""
    ) == [
        "Failed to load metallib from 'a.metallib': [Errno 2] No such file or directory: 'a.metallib'",
        "Failed to load metallib: it is no Metal library",
        "expected bytes or path, got int",
    ]


def test_splitting_at_indices_of_the_cpu():
    assert lines("print(torch.ones(4, device='mps').tensor_split(torch.tensor([1, 2]))[1].device)") == ["mps:0"]


def test_processes_cannot_share_the_device(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        """
import io
from multiprocessing.reduction import ForkingPickler
import torch
for tensor in (torch.ones(2), torch.ones(2, device="mps")):
    try: ForkingPickler(io.BytesIO()).dump(tensor); print("sent")
    except RuntimeError as error: print(error)
"""
    )
    sent, refused = runner(script).splitlines()
    assert sent == "sent"
    assert refused.startswith("_share_fd_: only available on CPU")


def test_events_and_streams_of_any_device():
    assert lines(
        """
x = torch.ones(1, device="mps")
start, end = torch.Event(device=x.device, enable_timing=True, blocking=True), torch.Event(enable_timing=True)
start.record(); end.record(); end.synchronize()
print(start.elapsed_time(end) >= 0, isinstance(start, torch.Event), start.device, torch.Event("cpu").device)
stream = torch.Stream(device="mps")
with stream: event = stream.record_event()
stream.wait_event(event)
print(stream.device, stream == torch.mps.current_stream(), isinstance(stream, torch.Stream), event.query())
print(torch.Stream("cpu").device, torch.accelerator.current_stream().device)
"""
    ) == ["True True mps:0 cpu", "mps:0 False True True", "cpu mps:0"]


def test_wrapper_subclasses():
    assert lines(
        """
from torch.utils._pytree import tree_map
class Halved(torch.Tensor):
    @staticmethod
    def __new__(cls, half): return torch.Tensor._make_wrapper_subclass(cls, half.shape, dtype=half.dtype, device=half.device)
    def __init__(self, half): self.half = half
    def __tensor_flatten__(self): return ["half"], None
    @staticmethod
    def __tensor_unflatten__(parts, context, size, stride): return Halved(parts["half"])
    @classmethod
    def __torch_dispatch__(cls, function, types, args, kwargs=None):
        inner = lambda x: x.half if isinstance(x, Halved) else x
        result = function(*tree_map(inner, args), **tree_map(inner, kwargs or {}))
        keeps_type = function.overloadpacket in (torch.ops.aten._to_copy, torch.ops.aten.detach, torch.ops.aten.clone)
        return Halved(result) if keeps_type else 2 * result
x = Halved(torch.ones(2, device="mps"))
there = x.cpu()
back = there.to("mps")
print(x.device, there.device, there.half.device, back.device, type(back).__name__, (x + x).device, there + there)
module = torch.nn.Linear(2, 1, bias=False)
module.weight = torch.nn.Parameter(Halved(torch.ones(1, 2)), requires_grad=False)
print(module.to("mps").weight.device, module(torch.ones(1, 2, device="mps")).device)
nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged, device="mps")
print(nested.device, (nested * 2).device, nested.unbind()[1].device)
"""
    ) == ["mps:0 cpu cpu mps:0 Halved mps:0 tensor([4., 4.])", "mps:0 mps:0", "mps:0 mps:0 mps:0"]
