"""Radix sorts of 32-bit keys with their values on an NVIDIA GPU: the kernels of examples/kernels/radix_sort.metal, the
same in CUDA C++ (radix_sort.cu, by NVIDIA's run-time compiler), and PyTorch's sort, which is CUB's: times in graphs, by
turns in one run, results checked first.

    python bench/cuda/sort.py [KEYS]        4,194,304 by default

Needs PyTorch and CuPy with CUDA, and Metalloid's Python package.
"""

import pathlib
import statistics
import sys
from collections.abc import Callable

import cupy
import torch

import metalloid

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))

from compare import ROUNDS, captured, seconds_of  # noqa: E402

THREADS = 1024  # of a tile, a key each
DIGITS = 16
BITS = 4  # of a digit: eight passes sort 32 bits

# kernel's name, arguments, threadgroups
Launch = Callable[[str, list, int], None]


def metal_launch() -> Launch:
    file = here.parents[1] / "examples" / "kernels" / "radix_sort.metal"
    library = metalloid.compile_shader(file.read_text(), device="cuda", math_mode="fast", source_file=file)

    def launch(name: str, arguments: list, groups: int) -> None:
        library.get_kernel(name)(*arguments, threads=groups * THREADS, group_size=THREADS)

    return launch


def cuda_launch() -> Launch:
    code = (here / "radix_sort.cu").read_text()
    module = cupy.RawModule(code=code, options=("--use_fast_math", "-std=c++17"), backend="nvrtc")

    def launch(name: str, arguments: list, groups: int) -> None:
        values = tuple(
            cupy.asarray(each) if isinstance(each, torch.Tensor) else cupy.uint32(each) for each in arguments
        )
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            module.get_function(name)((groups,), (THREADS,), values)

    return launch


class Sort:
    """A sort of keys by eight passes; results are where they began, in new_keys and new_values."""

    def __init__(self, launch: Launch, keys: torch.Tensor) -> None:
        self.launch, self.keys = launch, keys
        self.values = torch.arange(len(keys), dtype=torch.int32, device="cuda")
        self.pairs = [[torch.empty_like(keys) for _ in range(2)] for _ in range(2)]
        self.tiles = -(-len(keys) // THREADS)
        self.counts, self.starts = (
            torch.empty(DIGITS * self.tiles, dtype=torch.int32, device="cuda") for _ in range(2)
        )

    def run(self) -> None:
        length = len(self.keys)
        keys, values = self.keys, self.values
        for i in range(32 // BITS):
            new_keys, new_values = self.pairs[i % 2]
            self.launch("histogram", [self.counts, keys, length, BITS * i], self.tiles)
            self.launch("prefix_sum", [self.starts, self.counts, len(self.counts)], 1)
            self.launch("scatter", [new_keys, new_values, keys, values, self.starts, length, BITS * i], self.tiles)
            keys, values = new_keys, new_values
        self.result = keys, values


def main() -> None:
    length = int(sys.argv[1]) if sys.argv[1:] else 1 << 22
    # Without a sign, so that numbers of int32, which PyTorch sorts, have the order of the kernels' uint.
    keys = torch.randint(0, 2**31 - 1, (length,), dtype=torch.int32, device="cuda")
    expected = torch.sort(keys, stable=True)
    graphs, sorts = [], []  # graphs keep neither arrays nor code
    for launch in (metal_launch(), cuda_launch()):
        sorts.append(sort := Sort(launch, keys))
        sort.run()
        torch.cuda.synchronize()
        assert torch.equal(sort.result[0], expected.values), "wrong keys"
        assert torch.equal(sort.result[1], expected.indices.int()), "wrong values"
        graphs.append(captured(sort.run, 4))
    graphs.append(captured(lambda: torch.sort(keys, stable=True), 4))
    samples = [[seconds_of(graph, 4) for graph in graphs] for _ in range(ROUNDS)]
    times = [statistics.median(each) for each in zip(*samples, strict=True)]
    print(
        f"{torch.cuda.get_device_name()}, {length:,} keys\n\n| sort | time | time / Metalloid's |\n| --- | --- | --- |"
    )
    for i, name in enumerate(("Metalloid", "CUDA C++", "PyTorch (CUB)")):
        ratio = statistics.median(sample[i] / sample[0] for sample in samples)
        print(f"| {name} | {times[i] * 1e6:.0f} us | {ratio:.2f} |")


if __name__ == "__main__":
    main()
