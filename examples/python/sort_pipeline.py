"""A pipeline of kernels, histogram -> prefix sum -> scatter, and how one finds which of them is wrong.

Together the three kernels of kernels/radix_sort.metal are one pass of a radix sort: they reorder keys, and values that
belong to them, by four bits of the keys. Eight passes sort 32-bit keys. The result of each kernel is an array in device
memory that the next one reads; between two kernels of a library nothing else is needed, because each starts when the
one before has finished.

When the sort comes out wrong, the result does not say why: a small mistake in the first kernel scatters keys
everywhere. So each stage is run alone. Its input is what the stage before *should* have given, computed by NumPy, and
so is what its output is compared with. Then a wrong output can only come from the stage's own kernel:

    lib.histogram(counts, keys, length, shift, threads=[tiles * 256, 1, 1], group_size=[256, 1, 1])
    assert np.array_equal(counts, reference_histogram(keys, shift)), "histogram is wrong"

Try it: `python sort_pipeline.py --bug prefix_sum` breaks one kernel. The table then shows the sort wrong, the other
stages right when they run alone, and the wrong stage with the first element that differs. Without options, the program
checks the pipeline, and then that each of its planted bugs is found in this way. Things to see in them:

  histogram   the counts are right, but in the wrong order: the reference must check the layout, too;
  prefix_sum  right for short inputs: only a length above the threadgroup's size has a carry to forget;
  scatter     one pass puts all digits in order; that equal digits changed places spoils the passes after it.
"""

import argparse
import sys

import metalloid
import numpy as np
from common import Report, empty_result, kernel_source

digits = 16

# Stage, then what its kernel says and what it says with the bug.
bugs = {
    "histogram": ("counts[digit * tiles + tile] =", "counts[tile * digits + digit] ="),
    "prefix_sum": ("carried += totals[s];", ""),
    "scatter": ("same & ((1ul << lane) - 1)", "same & ~((2ul << lane) - 1)"),
}


def source_with(bug: str | None) -> str:
    source = kernel_source("radix_sort.metal")
    if bug is not None:
        right, wrong = bugs[bug]
        assert source.count(right) == 1
        source = source.replace(right, wrong)
    return source


class RadixSort:
    """The kernels, as functions from arrays to arrays. A tile is what one threadgroup takes: one key per thread."""

    def __init__(self, source: str, tile: int = 256) -> None:
        self.lib, self.tile = metalloid.compile_shader(source), tile

    def tiles(self, keys: np.ndarray) -> int:
        return -(-keys.size // self.tile)

    def histogram(self, keys, shift):
        counts = empty_result((digits, self.tiles(keys)), np.uint32)
        threads = self.tiles(keys) * self.tile  # whole threadgroups; the kernel checks for the end of the keys
        self.lib.histogram(counts, keys, keys.size, shift, threads=[threads, 1, 1], group_size=[self.tile, 1, 1])
        return counts

    def prefix_sum(self, counts):
        starts = empty_result(counts.shape, np.uint32)
        # One threadgroup.
        self.lib.prefix_sum(starts, counts, counts.size, threads=[self.tile, 1, 1], group_size=[self.tile, 1, 1])
        return starts

    def scatter(self, keys, values, starts, shift):
        """Returns keys and values in one array of two rows."""
        result = empty_result((2, keys.size), np.uint32)
        self.lib.scatter(
            result[0], result[1], keys, values, starts, keys.size, shift,
            threads=[self.tiles(keys) * self.tile, 1, 1], group_size=[self.tile, 1, 1],
        )  # fmt: skip
        return result

    def sort(self, keys, values):
        """All passes. Returns the sorted keys and their values in two rows; equal keys keep their order."""
        result = np.stack([keys, values])
        if keys.size == 0:
            return result  # Metal has no empty grids and no empty buffers
        for shift in range(0, 32, 4):
            starts = self.prefix_sum(self.histogram(result[0], shift))
            result = self.scatter(result[0], result[1], starts, shift)
        return result


# What each stage should give, by NumPy.


def reference_histogram(keys, shift, tile):
    tiles = -(-keys.size // tile)
    counts = np.zeros((digits, tiles), np.uint32)
    np.add.at(counts, (keys >> shift & digits - 1, np.arange(keys.size) // tile), 1)
    return counts


def reference_prefix_sum(counts):
    flat = counts.ravel().astype(np.uint64)
    return (np.cumsum(flat) - flat).astype(np.uint32).reshape(counts.shape)


def reference_scatter(keys, values, shift):
    order = np.argsort(keys >> shift & digits - 1, kind="stable")
    return np.stack([keys, values])[:, order]


def stages_alone(sorting: RadixSort, keys, values, shift):
    """Yields each stage's name, result and expected result; every stage's input comes from NumPy."""
    counts = reference_histogram(keys, shift, sorting.tile)
    yield "histogram", sorting.histogram(keys, shift), counts
    starts = reference_prefix_sum(counts)
    yield "prefix_sum", sorting.prefix_sum(counts), starts
    yield "scatter", sorting.scatter(keys, values, starts, shift), reference_scatter(keys, values, shift)


def first_difference(got, expected) -> str:
    place = tuple(int(i) for i in np.argwhere(got != expected)[0])
    return f"first difference at {place}: {got[place]}, expected {expected[place]}"


def example_input(length: int, highest: int = 2**32):
    random = np.random.default_rng(length)
    return random.integers(0, highest, length, np.uint32), np.arange(length, dtype=np.uint32)


def check_pipeline(report: Report, sorting: RadixSort, length: int, shift: int = 4) -> None:
    keys, values = example_input(length)
    order = np.argsort(keys, kind="stable")
    case = f"tiles of {sorting.tile}: "
    got = sorting.sort(keys, values)
    report.check(case + "whole sort", got.shape, got, np.stack([keys, values])[:, order], 0)
    for name, got, expected in stages_alone(sorting, keys, values, shift):
        if not report.check(f"{case}{name} alone", got.shape, got, expected, 0) and (got != expected).any():
            print(f"    {first_difference(got, expected)}")


def wrong_stages(bug: str) -> list[str]:
    """What running the stages alone says about kernels with a bug."""
    keys, values = example_input(20_000)
    return [
        name
        for name, got, expected in stages_alone(RadixSort(source_with(bug)), keys, values, 4)
        if not np.array_equal(got, expected)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="A radix sort, stage by stage.")
    parser.add_argument("--bug", choices=bugs, help="break this stage, and see the table find it")
    bug = parser.parse_args().bug

    report = Report("radix sort: histogram -> prefix sum -> scatter")
    if bug is not None:
        check_pipeline(report, RadixSort(source_with(bug)), 20_000)
        return report.finish()

    source = source_with(None)
    for tile, length in ((32, 257), (100, 5000), (256, 1), (256, 5000), (1024, 5000)):
        check_pipeline(report, RadixSort(source, tile), length)  # of 100 threads, the last simdgroup has four
    report.check("no keys", (2, 0), RadixSort(source).sort(*example_input(0)), np.empty((2, 0)), 0)
    keys, values = example_input(3000, highest=3)  # many equal keys
    order = np.argsort(keys, kind="stable")
    report.check("equal keys keep their order", keys.shape, RadixSort(source).sort(keys, values)[1], values[order], 0)

    for name in bugs:
        found = wrong_stages(name)
        report.check(f"a bug in {name} is found there", ", ".join(found) or "not found", found != [name], 0, 0)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
