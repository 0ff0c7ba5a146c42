"""Kernels on CUDA tensors, on a machine with a GPU: `python try_on_gpu.py` prints a line for each thing that it tries, ends
with 1 if one failed, and prints what a call costs. PyTorch with CUDA is needed; CuPy is tried where it is."""

from __future__ import annotations

import logging
import sys
import time
import traceback

import numpy
import torch

import metalloid
from metalloid import MetalParameter, TorchMetalKernel

source = """
kernel void scale(device float* y, device const float* x, constant float& factor, uint i [[thread_position_in_grid]]) {
  y[i] = factor * x[i];
}
kernel void twice(device float* y, device const float* x, uint i [[thread_position_in_grid]]) { y[i] = 2 * x[i]; }
kernel void add_one(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
kernel void tell(device float* x, uint i [[thread_position_in_grid]]) {
  if (i % 64 == 2) metal::os_log_default.log_error("x of %s is %.1f", "kernels", x[i]);
}
float sum(device const float* x, uint n) {
  volatile float kept[4];
  kept[n % 4] = x[n];
  return n == 0 ? x[0] : sum(x, n - 1) + kept[n % 4];
}
kernel void sums(device float* y, device const float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  y[i] = sum(x, n + i % 2);
}
kernel void trapped(device float* y, uint i [[thread_position_in_grid]]) {
  if (i == 5) __builtin_trap();
  y[i] = 1;
}
kernel void far(device float* y, uint i [[thread_position_in_grid]]) { y[i + 1000000] = 1; }
kernel void forever(device volatile float* y, uint i [[thread_position_in_grid]]) { while (y[0] == 0) y[1] += 1; }
struct Inputs { metal::array<device float*, 2> x; };
kernel void add(device float* y, constant Inputs& inputs, uint i [[thread_position_in_grid]]) {
  y[i] = inputs.x[0][i] + inputs.x[1][i];
}
"""
library = metalloid.compile_shader(source)
tried = []


def attempt(function):
    tried.append(function)
    return function


def raised(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def numbers(count, **options):
    return torch.arange(count, dtype=torch.float32, device="cuda", **options)


@attempt
def tensors():
    x, y = numbers(100_000), torch.zeros(100_000, device="cuda")
    library.scale(y, x, 3.0)
    assert torch.equal(y, 3 * x)
    library.scale(y, x[50_000:], 2.0, threads=50_000)
    assert torch.equal(y[:50_000], 2 * x[50_000:]) and torch.equal(y[50_000:], 3 * x[50_000:])
    library.scale(y, x, torch.tensor(0.5, dtype=torch.float64))
    assert torch.equal(y, x / 2)
    library.scale(y, x, torch.tensor(0.25, device="cuda"))
    assert torch.equal(y, x / 4)


@attempt
def order_on_torchs_stream():
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            x = torch.zeros(1 << 22, device="cuda")
            for _ in range(100):
                x += 1
                library.add_one(x)
                x *= 1
            assert bool((x == 200).all())


@attempt
def arrays_of_the_host_beside():
    y = torch.zeros(1000, device="cuda")
    x = numpy.arange(1000, dtype=numpy.float32)
    library.scale(y, x, 2.0)
    x[:] = 0
    assert torch.equal(y, 2 * numbers(1000))
    result = numpy.zeros(1000, numpy.float32)
    library.scale(result, y, 2.0)
    assert result.tolist() == [4 * i for i in range(1000)]


@attempt
def lists_of_tensors():
    y, a, b = torch.zeros(64, device="cuda"), numbers(64), torch.ones(64, device="cuda")
    library.add(y, [a, b])
    assert torch.equal(y, a + 1)


@attempt
def errors():
    y = torch.zeros(16, device="cuda")
    library.far(y)
    text = raised(metalloid.synchronize)
    assert "kernel 'far'" in text, text
    library.far(y)
    torch.cuda.synchronize()
    text = raised(library.add_one, y)
    assert "kernel 'far'" in text, text
    assert bool((y == 0).all())
    library.add_one(y)
    assert bool((y == 1).all())
    text = raised(library.twice, y, torch.zeros(16))
    assert "'y' at buffer(0)" in text and "'x' at buffer(1)" in text and "host's memory" in text, text
    if torch.cuda.device_count() > 1:
        text = raised(library.twice, y, torch.zeros(16, device="cuda:1"))
        assert "cuda:0" in text and "cuda:1" in text, text


@attempt
def recursion():
    x, y = torch.ones(50, device="cuda"), torch.zeros(4, device="cuda")
    library.sums(y, x, 48)
    assert torch.equal(y.cpu(), torch.tensor([49.0, 50.0, 49.0, 50.0])), y
    library.sums(y, x, 49)
    text = raised(metalloid.synchronize)
    assert "kernel 'sums' reads outside of argument 'x'" in text and "element 50 of 50" in text, text
    library.sums(y, torch.ones(100_000, device="cuda"), 90_000)
    text = raised(metalloid.synchronize)
    assert "kernel 'sums' crashed" in text and "a thread's stack overflowed" in text, text
    library.trapped(torch.zeros(8, device="cuda"), threads=8, group_size=4)
    text = raised(metalloid.synchronize)
    assert "illegal instruction" in text and "threadgroup (1, 0, 0), thread (1, 0, 0)" in text, text
    library.sums(y, x, 2)
    metalloid.synchronize()
    assert torch.equal(y.cpu(), torch.tensor([3.0, 4.0, 3.0, 4.0])), y


@attempt
def messages():
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    logging.getLogger("metalloid").addHandler(handler)
    try:
        library.tell(numbers(256))
        metalloid.synchronize()
    finally:
        logging.getLogger("metalloid").removeHandler(handler)
    texts = [record.getMessage() for record in records]
    wanted = [f"x of kernels is {x}.0" for x in (2, 66, 130, 194)]
    assert len(texts) == 4 and all(any(text.endswith(each) for text in texts) for each in wanted), texts


@attempt
def kernels_without_end():
    y = torch.zeros(16, device="cuda")
    library.forever(y, threads=1, timeout=0.5)
    text = raised(metalloid.synchronize)
    assert "timeout of 0.5 s" in text, text
    library.add_one(y)
    metalloid.synchronize()


@attempt
def graphs():
    x, y = numbers(1000), torch.zeros(1000, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        library.scale(y, x, 2.0)
        library.far(y, threads=1, group_size=1)  # compiled, too
    assert "kernel 'far'" in raised(metalloid.synchronize)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        library.scale(y, x, 2.0)
        y += 1
        library.scale(y, y, 10.0)
    y.zero_()
    x += 1
    graph.replay()
    assert torch.equal(y, 10 * (2 * x + 1))
    with torch.cuda.graph(broken := torch.cuda.CUDAGraph()):
        library.far(y, threads=1, group_size=1)
    broken.replay()
    assert "kernel 'far'" in raised(metalloid.synchronize)


@attempt
def other_gpus():
    if torch.cuda.device_count() < 2:
        return "one GPU"
    x, y = torch.ones(100, device="cuda:1"), torch.zeros(100, device="cuda:1")
    library.twice(y, x)
    assert torch.cuda.current_device() == 0 and torch.zeros(1, device="cuda").get_device() == 0
    assert bool((y == 2).all())
    with torch.cuda.device(1):
        library.twice(y, y)
        assert torch.cuda.current_device() == 1
    assert bool((y == 4).all())


@attempt
def metal_kernel():
    kernel = metalloid.fast.metal_kernel(
        name="scale_all", input_names=["x", "factor"], output_names=["y"],
        source="uint i = thread_position_in_grid.x; y[i] = T(factor) * x[i];",
    )  # fmt: skip
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        x = numbers(64 * 64).reshape(64, 64).to(dtype)
        for given in (x, x.t(), x[::2]):
            y, = kernel(inputs=[given, 2], template=[("T", dtype)], output_shapes=[given.shape], output_dtypes=[dtype],
                        grid=(given.numel(), 1, 1), threadgroup=(256, 1, 1))  # fmt: skip
            assert y.is_cuda and torch.equal(y, 2 * given)
    y, = kernel(inputs=[x, 2], template=[("T", dtype)], output_shapes=[(64, 64)], output_dtypes=[dtype], init_value=7,
                grid=(8, 1, 1), threadgroup=(8, 1, 1))  # fmt: skip
    assert bool((y.view(-1)[8:] == 7).all())


def doubled(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


@attempt
def torch_metal_kernel():
    kernel = TorchMetalKernel(
        "doubled", ["x", "factor"], ["y"], "y[i] = x[i] * factor;", doubled,
        metal_params=[MetalParameter("i", "uint", "thread_position_in_grid")], verify=False,
    )  # fmt: skip

    def call(x):
        return kernel(x, 2.0, threads_per_grid=(x.numel(), 1, 1), threads_per_thread_group=(32, 1, 1),
                      result_shapes=[list(x.shape)])  # fmt: skip

    x = numbers(1024)
    assert call(x).is_cuda and torch.equal(call(x), 2 * x)

    class Model(torch.nn.Module):
        def forward(self, x):
            return call(x + 1) - 1

    assert torch.equal(torch.export.export(Model(), (x,)).module()(x), 2 * x + 1)
    kernel.verify = True
    assert torch.equal(call(x), 2 * x)
    kernel.verify = False
    try:
        compiled = torch.compile(Model())
        assert torch.equal(compiled(x), 2 * x + 1)
    except Exception as error:
        if "triton" not in str(error).lower() and "compiler" not in str(error).lower():
            raise
        return f"torch.compile wants what is not here: {str(error).splitlines()[0]}"


@attempt
def arrays_of_cupy():
    try:
        import cupy
    except ImportError:
        return "no cupy"
    x, y = cupy.arange(1000, dtype=cupy.float32), cupy.zeros(1000, cupy.float32)
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
        with stream:
            x += 1
            library.scale(y, x, 2.0)
            assert bool((y == 2 * x).all())
    library.scale(torch.zeros(1000, device="cuda"), x, 2.0)
    kernel = metalloid.fast.metal_kernel(
        name="copied",
        input_names=["x"],
        output_names=["y"],
        source="y[thread_position_in_grid.x] = x[thread_position_in_grid.x];",
    )
    (copy,) = kernel(
        inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype], grid=(1000, 1, 1), threadgroup=(100, 1, 1)
    )
    assert isinstance(copy, cupy.ndarray) and bool((copy == x).all())


def time_calls():
    x, y = torch.ones(1, device="cuda"), torch.ones(1, device="cuda")
    scale, twice = library.scale, library.twice
    for name, call in {
        "twice(y, x)": lambda: twice(y, x),
        "scale(y, x, 2.0)": lambda: scale(y, x, 2.0),
        "torch.mul(x, 2, out=y)": lambda: torch.mul(x, 2, out=y),
    }.items():
        best = float("inf")
        for _ in range(20):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(500):
                call()
            best = min(best, (time.perf_counter() - begin) / 500)
        print(f"{name}: {best * 1e6:.1f} us a call")
    large = torch.ones(1 << 28, device="cuda")
    result = torch.empty_like(large)
    for name, call in {
        "twice": lambda: twice(result, large),
        "torch.mul": lambda: torch.mul(large, 2, out=result),
    }.items():
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        best = float("inf")
        for _ in range(10):
            events[0].record()
            call()
            events[1].record()
            torch.cuda.synchronize()
            best = min(best, events[0].elapsed_time(events[1]))
        print(f"{name}, 2 x 1 GiB: {2 * 4 * large.numel() / best / 1e9:.2f} TB/s")


def main() -> int:
    print(
        torch.cuda.get_device_name(), "torch", torch.__version__, "devices:", [name for name, _ in metalloid.devices()]
    )
    failed = 0
    for function in tried:
        try:
            print(function.__name__ + ":", function() or "ok", flush=True)
        except Exception:
            failed += 1
            print(function.__name__ + ": FAILED", flush=True)
            traceback.print_exc(file=sys.stdout)
    time_calls()
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
