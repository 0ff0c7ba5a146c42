"""The kernels of bench/opencl on an NVIDIA GPU, as Metal and as CUDA C++ (by NVIDIA's run-time compiler, with fast math
as Metal's compiler has it): times of the same launches in graphs, by turns in one run, results checked first. So are
times without checks of bounds ($METALLOID_BOUNDS=off).

    python bench/cuda/compare.py [KERNEL...]

Needs PyTorch and CuPy with CUDA, and Metalloid's Python package.
"""

import os
import pathlib
import re
import statistics
import sys
from collections.abc import Callable, Sequence

import cupy
import numpy
import torch

import metalloid

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent), str(here.parent / "opencl")]

import cases  # noqa: E402
from case import Case, difference  # noqa: E402

ROUNDS = 9
LEAST_SECONDS = 0.002  # of one sample


def on_gpu(case: Case) -> list:
    types = {numpy.dtype(numpy.uint32): numpy.int32}  # of which PyTorch has all operations
    return [
        torch.from_numpy(each.view(types.get(each.dtype, each.dtype))).cuda() if each.ndim else each
        for each in map(numpy.asanyarray, case.arguments)
    ]


def as_metal(case: Case, arguments: list) -> Callable[[], None]:
    library = metalloid.compile_shader(
        case.file.read_text(), device="cuda", language=case.language, math_mode="fast", source_name=case.file.name,
        source_file=case.file,
    )  # fmt: skip
    kernel = library.get_kernel(case.kernel)
    values = [each if isinstance(each, torch.Tensor) else each.item() for each in arguments]
    return lambda: kernel(*values, threads=case.grid, group_size=case.group)


def as_metal_without_checks(case: Case, arguments: list) -> Callable[[], None]:
    os.environ["METALLOID_BOUNDS"] = "off"
    run = as_metal(case, arguments)
    run()  # the kernel is compiled by its first call
    del os.environ["METALLOID_BOUNDS"]
    return run


def as_cuda(case: Case, arguments: list) -> Callable[[], None]:
    own = here / f"{case.kernel}.cu"
    if own.exists():
        source = own.read_text()
    else:
        source = case.file.with_suffix(".cl").read_text()
        for word, meaning in {"kernel": 'extern "C" __global__', "global": "", "local": "__shared__"}.items():
            source = re.sub(rf"\b{word}\b", meaning, source)
        source = (here / "opencl_words.h").read_text().replace("#pragma once", "") + source
    options = ("--use_fast_math", "-default-device", "-std=c++17")
    function = cupy.RawModule(code=source, options=options, backend="nvrtc").get_function(case.kernel)
    values = tuple(cupy.asarray(each) if isinstance(each, torch.Tensor) else each[()] for each in arguments)
    group = case.group + (1,) * (3 - len(case.group))
    grid = tuple(
        -(-threads // size) for threads, size in zip(case.grid + (1,) * (3 - len(case.grid)), group, strict=True)
    )

    def run() -> None:
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            function(grid, group, values)

    return run


def check(case: Case, arguments: list, run: Callable[[], None]) -> None:
    for each, original in zip(arguments, case.arguments, strict=True):
        if isinstance(each, torch.Tensor):
            each.copy_(torch.from_numpy(numpy.asarray(original).view(numpy.dtype(str(each.dtype)[6:]))))
    run()
    torch.cuda.synchronize()
    assert case.expected is not None
    for i, expected in enumerate(case.expected()):
        result = arguments[i].cpu().numpy().view(case.arguments[i].dtype)
        if wrong := difference(case, result, expected):
            raise SystemExit(f"{case.kernel}: {wrong}")


def captured(run: Callable[[], object], calls: int) -> torch.cuda.CUDAGraph:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            run()
    return graph


def seconds_of(graph: torch.cuda.CUDAGraph, calls: int) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1000 / calls


def rates_by_turns(works: Sequence[Callable[[], object]], amount: float, calls: int, rounds: int) -> tuple[float, ...]:
    """`amount` per second of each, by the median of `rounds` rounds of as many calls in a graph."""
    graphs = [captured(work, calls) for work in works]
    samples = [[seconds_of(graph, calls) for graph in graphs] for _ in range(rounds)]
    return tuple(amount / statistics.median(each) for each in zip(*samples, strict=True))


def main() -> None:
    print(f"{torch.cuda.get_device_name()}, NVRTC {'.'.join(map(str, cupy.cuda.nvrtc.getVersion()))}\n")
    print(
        "| kernel | Metalloid | CUDA C++ | CUDA C++ / Metalloid | checked / unchecked |\n| --- | --- | --- | --- | --- |"
    )
    ratios = []
    for name in sys.argv[1:] or cases.CASES:
        case = cases.CASES[name]()
        arguments = on_gpu(case)
        graphs = []
        for make in (as_metal, as_cuda, as_metal_without_checks):
            run = make(case, arguments)
            check(case, arguments, run)
            calls = 1 + int(LEAST_SECONDS / max(seconds_of(captured(run, 1), 1), 1e-6))
            graphs.append((captured(run, calls), calls))
        samples = [[seconds_of(*graph) for graph in graphs] for _ in range(ROUNDS)]
        metal, cuda, _ = (statistics.median(each) for each in zip(*samples, strict=True))
        ratio = statistics.median(second / first for first, second, _ in samples)
        checks = statistics.median(first / third for first, _, third in samples)
        ratios.append((ratio, checks))
        print(f"| `{name}` | {metal * 1e6:.1f} us | {cuda * 1e6:.1f} us | {ratio:.2f} | {checks:.2f} |", flush=True)
    means = [statistics.geometric_mean(each) for each in zip(*ratios, strict=True)]
    print(f"| geometric mean | | | {means[0]:.2f} | {means[1]:.2f} |")


if __name__ == "__main__":
    main()
