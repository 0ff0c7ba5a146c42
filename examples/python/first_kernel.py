"""The first kernel: every thread of the grid handles one element.

A kernel is a function that runs once for each thread of a grid. Here the grid has as many threads as the arrays have
elements, and the only thing a thread has to know is which one it is: `[[thread_position_in_grid]]`.

`metalloid.compile_shader` compiles Metal source and returns its kernels as attributes, as `torch.mps.compile_shader`
does on a Mac. Argument i of the call is what the kernel has at `[[buffer(i)]]`. Arrays are the kernel's memory itself:
it reads and writes them in place. A Python float becomes a 32-bit float.

The launch has two sizes. `threads` is the grid, counted in threads; without it, the first array's number of elements.
`group_size` is how many threads make up a threadgroup. Kernels whose threads do not work together give the same results
with any. The last threadgroup is cut to fit, so that no thread stands behind the last element.
"""

import sys

import metalloid
import numpy as np
from common import Report, kernel_source, rounding

# A kernel can stand in the program ...
fill_source = """
#include <metal_stdlib>
using namespace metal;

kernel void fill(device float* out, constant float& value, uint i [[thread_position_in_grid]]) {
  out[i] = value;
}
"""


def main() -> int:
    random = np.random.default_rng(1)
    fill = metalloid.compile_shader(fill_source).fill
    # ... or in a file.
    saxpy = metalloid.compile_shader(kernel_source("saxpy.metal")).saxpy

    report = Report("fill: x = value, and saxpy: y = a x + y")
    for count in (1, 31, 257, 10_000):
        for group_size in (32, 256):
            x = np.full(count, np.nan, np.float32)
            fill(x, 1.5, group_size=group_size)
            report.check(f"fill, threadgroups of {group_size}", (count,), x, np.full(count, 1.5), 0)

            x, y = random.standard_normal((2, count), np.float32)
            expected = 0.75 * x.astype(np.float64) + y
            saxpy(y, x, 0.75, threads=count, group_size=group_size)
            report.check(f"saxpy, threadgroups of {group_size}", (count,), y, expected, 2 * rounding["float32"])
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
