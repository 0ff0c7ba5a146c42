"""RMSNorm over rows: out = x / sqrt(mean(x^2) + epsilon) * weight. One threadgroup per row.

A row's threads work together: each adds up the squares of every n-th element, `simd_sum` adds up the 32 lanes of a
simdgroup, and the simdgroups meet in threadgroup memory, between barriers. The kernel, in kernels/rms_norm.metal, says
how.

`threads` counts threads, not threadgroups: `rows` threadgroups of `group_size` threads are rows * group_size threads.
Any group size gives the same result, up to rounding: sums are added up in another order. The table tries some, the
smallest and the largest that Metal allows among them, on rows that they do and do not divide.

Floating point: x^2 is summed in float in at most columns / threads steps per thread, then as a tree, which keeps the
error near that of one rounding.
"""

import sys

import metalloid
import numpy as np
from common import Report, empty_result, kernel_source, rounding

lib = metalloid.compile_shader(kernel_source("rms_norm.metal"))


def rms_norm(x: np.ndarray, weight: np.ndarray, epsilon: float = 1e-5, group_size: int = 256) -> np.ndarray:
    """x: (rows, columns), weight: (columns,), both float32 and contiguous. Returns an array like x."""
    rows, columns = x.shape
    if weight.shape != (columns,):
        raise ValueError(f"weight has shape {weight.shape}, rows have {columns} elements")
    out = empty_result(x.shape)
    lib.rms_norm(out, x, weight, columns, epsilon, threads=rows * group_size, group_size=group_size)
    return out


def reference(x: np.ndarray, weight: np.ndarray, epsilon: float) -> np.ndarray:
    x = x.astype(np.float64)
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def main() -> int:
    random = np.random.default_rng(2)
    report = Report("RMSNorm, float")
    # An odd group size, too: then the last simdgroup has fewer than 32 lanes.
    for rows, columns in ((1, 1), (3, 32), (5, 257), (4, 1000), (2, 4096)):
        for group_size in (32, 100, 256, 1024):
            x = random.standard_normal((rows, columns), np.float32)
            weight = random.uniform(0.5, 1.5, columns).astype(np.float32)
            case = f"threadgroups of {group_size}"
            got = rms_norm(x, weight, 1e-5, group_size)
            report.check(case, x.shape, got, reference(x, weight, 1e-5), 8 * rounding["float32"])

    # The mean of the squares is far below epsilon, which keeps the scale finite; zeros stay zero.
    tiny = (1e-6 * random.standard_normal((4, 100))).astype(np.float32)
    tiny[0] = 0
    ones = np.ones(100, np.float32)
    expected = reference(tiny, ones, 1e-5)
    report.check("small numbers and zeros", tiny.shape, rms_norm(tiny, ones), expected, 1e-9)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
