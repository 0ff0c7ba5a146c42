"""Matrices of 4-bit weights times a vector (four_bits.metal) on an NVIDIA GPU and the same in CUDA C++ (four_bits.cu, by
NVIDIA's run-time compiler with fast math), and kernels that only read the weights: times of the same launches in graphs,
by turns in one run, and what of them a copy on the same card would take to read the weights. Results are compared with
NumPy's first.

    python bench/cuda/four_bits.py [KERNEL...]

Needs PyTorch and CuPy with CUDA, and Metalloid's Python package.
"""

import operator
import pathlib
import statistics
import sys
from collections.abc import Callable
from typing import NamedTuple

import cupy
import numpy
import torch

import metalloid

SHAPES = ((14336, 4096), (4096, 14336))  # rows, columns
ROUNDS = 9
MATRICES = 12  # by turns, so that caches have none of them
READING_BLOCKS, READING_THREADS = 132 * 4, 512  # of what only reads: all that an H200 has room for
rng = numpy.random.default_rng(1)
here = pathlib.Path(__file__).parent


class Case(NamedTuple):
    arrays: list[numpy.ndarray]
    matrix: numpy.ndarray  # what they stand for
    threads: tuple[int, ...]
    group: tuple[int, ...]
    x: type = numpy.float16
    y: torch.dtype = torch.float16
    adds_to_y: bool = False


def nibbles_in_words(weights: numpy.ndarray) -> numpy.ndarray:
    """Eight of the last axis in a word."""
    parts = weights.reshape(*weights.shape[:-1], -1, 8).astype(numpy.uint32)
    return numpy.bitwise_or.reduce(parts << (4 * numpy.arange(8, dtype=numpy.uint32)), axis=-1)


def of_groups(values: numpy.ndarray, size: int) -> numpy.ndarray:
    return numpy.repeat(values.astype(numpy.float32), size, axis=1)


def q4_0(weights: numpy.ndarray) -> Case:
    rows, columns = weights.shape
    scales = (0.01 * rng.random((rows, columns // 32)) + 0.001).astype(numpy.float16)
    blocks = numpy.empty((rows, columns // 32, 18), dtype=numpy.uint8)
    blocks[:, :, :2] = scales.view(numpy.uint8).reshape(rows, -1, 2)
    parts = weights.reshape(rows, -1, 2, 16)
    blocks[:, :, 2:] = parts[:, :, 0] | parts[:, :, 1] << 4
    matrix = of_groups(scales, 32) * (weights.astype(numpy.float32) - 8)
    return Case([blocks], matrix, (rows // 8 * 64,), (64,), x=numpy.float32, y=torch.float32)


def affine(weights: numpy.ndarray) -> Case:
    rows, columns = weights.shape
    scales = (0.01 * rng.random((rows, columns // 64)) + 0.001).astype(numpy.float16)
    biases = (-8 * scales * (0.9 + 0.2 * rng.random(scales.shape))).astype(numpy.float16)
    exact = of_groups(scales, 64) * weights + of_groups(biases, 64)
    return Case([nibbles_in_words(weights), scales, biases], exact, (rows // 8 * 64,), (64,))


def gptq(weights: numpy.ndarray) -> Case:
    rows, columns = weights.shape
    scales = (0.01 * rng.random((columns // 128, rows)) + 0.001).astype(numpy.float16)
    zeros = rng.integers(0, 15, scales.shape, dtype=numpy.uint8)
    words = numpy.ascontiguousarray(nibbles_in_words(weights).T)
    exact = of_groups(scales.T, 128) * (weights.astype(numpy.float32) - of_groups(zeros.T, 128) - 1)
    threads, group = (rows // 4, columns // 128), (128, 1)
    return Case([words, nibbles_in_words(zeros), scales], exact, threads, group, y=torch.float32, adds_to_y=True)


LAYOUTS = {"q4_0": q4_0, "affine": affine, "gptq": gptq}


def on_gpu(array: numpy.ndarray) -> torch.Tensor:
    return torch.from_numpy(array.view(numpy.int32) if array.dtype == numpy.uint32 else array).cuda()


def seconds_of(work: Callable[[], None]) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1000


def seconds_to_read(count: int) -> float:
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    least = min(seconds_of(lambda: target.copy_(source)) for _ in range(5))
    return count * least / (2 * source.nbytes)


def cuda_functions() -> Callable[[str], cupy.RawKernel]:
    options = ("--use_fast_math", "-std=c++17")
    return cupy.RawModule(code=(here / "four_bits.cu").read_text(), options=options, backend="nvrtc").get_function


def launch(function: cupy.RawKernel, blocks: tuple[int, ...], threads: tuple[int, ...], *arguments: object) -> None:
    values = tuple(cupy.asarray(each) if isinstance(each, torch.Tensor) else numpy.int32(each) for each in arguments)
    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        function(blocks, threads, values)


def captured(work: Callable[[], None]) -> torch.cuda.CUDAGraph:
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    graph.replay()
    return graph


def rows_of_table(name: str, kernel: Callable[..., None], function: Callable[[str], cupy.RawKernel]) -> None:
    for rows, columns in SHAPES:
        case = LAYOUTS[name](rng.integers(0, 16, (rows, columns), dtype=numpy.uint8))
        x = rng.standard_normal(columns).astype(case.x)
        expected = case.matrix @ x.astype(numpy.float32)
        y, of_x = torch.zeros((MATRICES, rows), dtype=case.y, device="cuda"), on_gpu(x)
        copies = [[on_gpu(each) for each in case.arrays] for _ in range(MATRICES)]
        blocks = tuple(threads // size for threads, size in zip(case.threads, case.group, strict=True))
        words = case.arrays[0].nbytes // 16

        def metal(row: torch.Tensor, copy: list[torch.Tensor]) -> None:
            kernel(row, *copy, of_x, columns, rows, threads=case.threads, group_size=case.group)

        def cuda(row: torch.Tensor, copy: list[torch.Tensor]) -> None:
            launch(function(name), blocks, case.group, row, *copy, of_x, columns, rows)

        def read_only(row: torch.Tensor, copy: list[torch.Tensor]) -> None:
            launch(function("read_only"), (READING_BLOCKS,), (READING_THREADS,), row, copy[0], words)

        graphs = []
        for run in (metal, cuda, read_only):

            def launches() -> None:
                if case.adds_to_y and run is not read_only:
                    y.zero_()
                for row, copy in zip(y, copies, strict=True):
                    run(row, copy)

            y.zero_()
            graphs.append(captured(launches))
            torch.cuda.synchronize()
            error = numpy.abs(y.cpu().numpy() - expected).max() / numpy.abs(expected).max()
            if run is not read_only and not error < 2e-3:
                raise SystemExit(f"{name} is {error:.1e} of the largest element off")
        count = sum(each.nbytes for each in case.arrays)
        samples = [
            (*(seconds_of(graph.replay) / MATRICES for graph in graphs), seconds_to_read(count)) for _ in range(ROUNDS)
        ]
        *taken, of_copy = zip(*samples, strict=True)
        cells = [
            f"{statistics.median(each) * 1e6:.1f} us | {statistics.median(map(operator.truediv, of_copy, each)):.2f}"
            for each in taken
        ]
        print(f"| `{name}`, {rows} x {columns} | {count / 2**20:.1f} MiB | {' | '.join(cells)} |", flush=True)


def main() -> None:
    source = (here / "four_bits.metal").read_text()
    library = metalloid.compile_shader(source, device="cuda", math_mode="fast", source_name="four_bits.metal")
    function = cuda_functions()
    print(f"{torch.cuda.get_device_name()}, NVRTC {'.'.join(map(str, cupy.cuda.nvrtc.getVersion()))}\n")
    print("| kernel, rows x columns | weights | Metalloid | of a copy's speed | CUDA C++ | | reading only | |")
    print("| --- " * 8 + "|")
    for name in sys.argv[1:] or LAYOUTS:
        rows_of_table(name, library.get_kernel(name), function)


if __name__ == "__main__":
    main()
