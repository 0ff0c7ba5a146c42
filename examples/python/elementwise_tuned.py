"""An elementwise kernel with the threadgroup size that measures best: SiLU, x / (1 + exp(-x)).

Each thread computes one element, so every threadgroup size gives the same result, and which one is fastest depends on
the machine and on the number of elements. `metalloid.tune` finds out: it runs the kernel with several sizes, in turns
and on copies of the arguments, and checks that they agree. The size in use, `group_size`, stays unless another one is
clearly faster; a few percent of difference are noise. The answer is cached on disk by device, kernel, arguments and
grid, so that the next program need not measure.

    result = metalloid.tune(kernel, out, x, count, threads=count, group_size=256)
    kernel(out, x, count, threads=count, group_size=result.best)

`--show` prints what was tried, `--force` measures again. On the command line, `metalloid tune` does the same.

The grid is the number of elements, whatever the threadgroup size: Metal cuts the last threadgroup to fit. The kernel
checks for the end of the array nevertheless, because hosts that count in threadgroups round the grid up, which the last
rows of the table do.

Arithmetic: exp(-x) would overflow to infinity for x < -88, so the kernel (in kernels/activations.metal) computes with
exp(-|x|). It does so in float for all element types, and rounds once at the end.
"""

import argparse
import sys

import metalloid
import numpy as np
from common import Report, empty_result, from_bfloat, kernel_source, rounding, to_bfloat

lib = metalloid.compile_shader(kernel_source("activations.metal"))


def reference(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    return x / (1 + np.exp(-x))


def main() -> int:
    parser = argparse.ArgumentParser(description="SiLU with the threadgroup size that measures best.")
    parser.add_argument("--show", action="store_true", help="print what was tried")
    parser.add_argument("--force", action="store_true", help="measure even if the answer is cached")
    parser.add_argument("--seconds", type=float, default=0.2, help="to measure for, each time (default: %(default)s)")
    arguments = parser.parse_args()
    random = np.random.default_rng(10)
    report = Report("SiLU, tuned")
    tables = []

    for name, count, convert, back, dtype, resolution in (
        ("float", 1, np.float32, np.float32, np.float32, "float32"),
        ("float", 257, np.float32, np.float32, np.float32, "float32"),
        ("float", 1_000_003, np.float32, np.float32, np.float32, "float32"),
        ("half", 100_000, np.float16, np.float16, np.float16, "float16"),
        ("bfloat", 100_000, to_bfloat, from_bfloat, np.uint16, "bfloat16"),
    ):
        kernel = lib.get_kernel(f"silu_{name}")
        x = convert(random.uniform(-100, 100, count))
        out = empty_result(count, dtype)
        result = metalloid.tune(
            kernel, out, x, count, threads=count, group_size=256, seconds=arguments.seconds, force=arguments.force
        )
        tables.append(str(result))
        expected = reference(back(x))
        tolerance = 4 * rounding["float32"] + rounding[resolution]

        def silu(group_size: int) -> np.ndarray:
            out = empty_result(count, dtype)
            kernel(out, x, count, threads=count, group_size=group_size)
            return out

        best = silu(result.best)
        report.check(f"{name}, threadgroups of {result.best}", (count,), back(best), expected, tolerance)
        others = np.stack([silu(trial.group_size) for trial in result.trials])
        report.check(f"{name}, every size that was tried", others.shape, others, np.broadcast_to(best, others.shape), 0)

    # A grid in whole threadgroups reaches over the end; the margins of `out` show whether anything is written there.
    for count in (1, 31, 257, 1000):
        x = random.standard_normal(count).astype(np.float32)
        out = empty_result(count)
        lib.silu_float(out, x, count, threads=-(-count // 256) * 256, group_size=256)
        report.check("grid rounded up to 256", (count,), out, reference(x), 4 * rounding["float32"])
    exit_code = report.finish()
    if arguments.show:
        print("", *tables, sep="\n")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
