"""Softmax over rows: out = exp(x - max(x)) / sum(exp(x - max(x))). A PyTorch script as one writes it for a Mac.

It asks for device "mps" and calls `torch.mps.compile_shader`, and knows nothing of Metalloid. Elsewhere it runs as it
stands by

    python -m metalloid.mps examples/python/softmax_mps.py

Two kernels, in kernels/softmax.metal, do the same for rows of different length. `softmax_one_simdgroup` gives each row
to one simdgroup: its 32 lanes find the largest element and the sum by simd_max and simd_sum, without threadgroup memory
and barriers. `softmax` gives each row to a threadgroup, whose simdgroups have to meet in threadgroup memory: worth it
when a row has many more elements than a simdgroup has lanes.

Taking the largest element off first changes nothing in exact arithmetic, and keeps exp from overflowing. Sums are in
float, also for half and bfloat; only the result is rounded to the element type.
"""

import sys

import numpy as np
import torch
from common import Report, kernel_source, rounding

lib = torch.mps.compile_shader(kernel_source("softmax.metal"))
names = {torch.float32: "float", torch.float16: "half", torch.bfloat16: "bfloat"}


def softmax(x: torch.Tensor, group_size: int = 256) -> torch.Tensor:
    """Over the last dimension. x: any shape, on device mps, of float32, float16 or bfloat16."""
    x = x.contiguous()  # the kernel counts on rows one after the other
    columns = x.shape[-1]
    rows = x.numel() // columns
    out = torch.full_like(x, torch.nan)
    kernel = getattr(lib, f"softmax_{names[x.dtype]}")
    kernel(out, x, columns, threads=rows * group_size, group_size=group_size)
    return out


def softmax_one_simdgroup(x: torch.Tensor, rows_per_threadgroup: int = 4) -> torch.Tensor:
    """The same, for short rows."""
    x = x.contiguous()
    columns = x.shape[-1]
    rows = x.numel() // columns
    out = torch.full_like(x, torch.nan)
    kernel = getattr(lib, f"softmax_one_simdgroup_{names[x.dtype]}")
    threadgroups = -(-rows // rows_per_threadgroup)  # the last one may have fewer rows: the kernel checks
    group_size = 32 * rows_per_threadgroup
    kernel(out, x, columns, rows, threads=threadgroups * group_size, group_size=group_size)
    return out


def reference(x: torch.Tensor) -> np.ndarray:
    values = x.cpu().double().numpy()
    exponentials = np.exp(values - values.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def main() -> int:
    device = torch.device("mps")
    torch.manual_seed(3)
    report = Report(f"softmax on {device}")

    def check(case: str, x: torch.Tensor, got: torch.Tensor) -> None:
        tolerance = 4 * rounding["float32"] + rounding[str(x.dtype).removeprefix("torch.")]
        torch.mps.synchronize()
        report.check(case, tuple(x.shape), got.cpu().double().numpy(), reference(x), tolerance)

    for shape in ((1, 1), (2, 3, 31), (3, 257), (2, 4096)):
        x = 10 * torch.randn(shape, device=device)
        # 65 and 1000 threads: the last simdgroup has fewer lanes than there are simdgroups.
        for group_size in (32, 65, 256, 1000, 1024):
            check(f"float, threadgroups of {group_size}", x, softmax(x, group_size))
        for rows in (1, 4):
            check(f"float, {rows} x one simdgroup", x, softmax_one_simdgroup(x, rows))
    for dtype in (torch.float16, torch.bfloat16):
        x = 3 * torch.randn(5, 100, device=device, dtype=dtype)
        check(f"{names[dtype]}, threadgroups of 128", x, softmax(x, 128))
        check(f"{names[dtype]}, one simdgroup", x, softmax_one_simdgroup(x))

    x = torch.randn(4, 64, device=device) + 1e4  # exp(1e4) would overflow
    check("large numbers", x, softmax(x))
    x = torch.randn(4, 64, device=device).masked_fill(torch.arange(64, device=device) > 40, -torch.inf)
    check("masked with -inf", x, softmax_one_simdgroup(x))
    x = torch.randn(4, 300, device=device)
    x[1, 299] = torch.nan  # spoils its own row, and only that
    check("a NaN in one row", x, softmax(x))
    check("a NaN in one row, one simdgroup", x, softmax_one_simdgroup(x))
    x = torch.randn(64, 5, device=device).T
    check("not contiguous", x, softmax(x))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
