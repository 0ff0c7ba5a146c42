"""Matrix products with simdgroup matrices: 8 x 8 matrices that the 32 lanes of a simdgroup hold together.

Small kernels first (kernels/simdgroup_fragments.metal), each with one part of the interface:

  layout                        which lane holds which two elements, seen through thread_elements()
  transpose_on_load, _on_store  simdgroup_load and simdgroup_store with all their arguments
  linear_relu                   simdgroup_multiply_accumulate, a transposed operand, and arithmetic on thread_elements()

Then a product of matrices of any size (kernels/simdgroup_matmul.metal), in which tiles pass through threadgroup memory.

The launch of the small kernels is one simdgroup, 32 threads, per block of 8 x 8. Metal's matrices work only where all
lanes of a simdgroup do the same together, so threadgroups are always multiples of 32 here. Grids are counted in
threads: m x n threadgroups of 32 threads are a grid of (32 m, n).

Floating point: products and sums are in float, for half and bfloat operands too.
"""

import argparse
import sys

import metalloid
import numpy as np
from common import Report, empty_result, from_bfloat, kernel_source, rounding, to_bfloat

fragments = metalloid.compile_shader(kernel_source("simdgroup_fragments.metal"))
products = metalloid.compile_shader(kernel_source("simdgroup_matmul.metal"))


def lane_layout() -> np.ndarray:
    """(32, 2): the row-major index of both elements of each lane, as simdgroups on Apple's GPUs have them."""
    lane = np.arange(32)
    row = (lane // 4 & 4) + lane // 2 % 4
    column = (lane // 4 & 2) * 2 + lane % 2 * 2
    return np.stack([8 * row + column, 8 * row + column + 1], axis=1)


def print_layout(positions: np.ndarray) -> None:
    lanes = np.empty(64, int)
    lanes[positions] = np.arange(32)[:, None]
    print("The lanes that hold an 8 x 8 matrix:")
    for row in lanes.reshape(8, 8):
        print("  " + " ".join(f"{lane:2}" for lane in row))


def matmul(a: np.ndarray, b: np.ndarray, name: str) -> np.ndarray:
    (rows, inner), columns = a.shape, b.shape[1]
    c = empty_result((rows, columns))
    threadgroups = (-(-columns // 32), -(-rows // 32))
    products.get_kernel(f"simdgroup_matmul_{name}")(
        c, a, b, [rows, columns, inner], arg_casts={3: "int32"},
        threads=(128 * threadgroups[0], threadgroups[1]), group_size=(128, 1),
    )  # fmt: skip
    return c


def linear_relu(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, name: str) -> np.ndarray:
    (rows, inputs), outputs = x.shape, weight.shape[0]
    if rows % 8 or inputs % 8 or outputs % 8:
        raise ValueError("linear_relu takes multiples of 8")
    out = empty_result((rows, outputs))
    fragments.get_kernel(f"linear_relu_{name}")(
        out, x, weight, bias, inputs, outputs, threads=(32 * (outputs // 8), rows // 8), group_size=(32, 1)
    )
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description="Simdgroup matrices, compared with double precision.")
    parser.add_argument("--show-layout", action="store_true", help="print which lane holds which element")
    arguments = parser.parse_args()
    random = np.random.default_rng(6)
    report = Report("simdgroup matrices")

    positions = empty_result((32, 2), np.uint32)
    fragments.layout(positions, np.arange(64, dtype=np.float32).reshape(8, 8), threads=32, group_size=32)
    report.check("layout of thread_elements()", (8, 8), positions, lane_layout(), 0)

    for rows, columns in ((8, 8), (24, 16), (8, 104)):
        matrix = random.standard_normal((rows, columns)).astype(np.float32)
        for name in ("transpose_on_load", "transpose_on_store"):
            out = empty_result((columns, rows))
            kernel = fragments.get_kernel(name)
            kernel(out, matrix, rows, columns, threads=(32 * (columns // 8), rows // 8), group_size=(32, 1))
            report.check(name, (rows, columns), out, matrix.T, 0)

    for name, dtype in (("float", np.float32), ("half", np.float16)):
        for rows, inputs, outputs in ((8, 8, 8), (16, 72, 40)):
            x, weight = (random.standard_normal((n, inputs)).astype(dtype) for n in (rows, outputs))
            bias = random.standard_normal(outputs).astype(np.float32)
            expected = np.maximum(x.astype(np.float64) @ weight.T.astype(np.float64) + bias, 0)
            got = linear_relu(x, weight, bias, name)
            tolerance = 16 * inputs**0.5 * rounding["float32"]
            report.check(f"linear_relu, {name}", f"{rows} x {inputs} x {outputs}", got, expected, tolerance)

    # Sizes that the tiles of 32 x 32 (and 16 along the sum) do and do not divide.
    for rows, inner, columns in ((1, 1, 1), (32, 16, 32), (33, 17, 65), (64, 80, 96), (100, 257, 7)):
        a, b = random.standard_normal((rows, inner)), random.standard_normal((inner, columns))
        for name, convert, back in (
            ("float", np.float32, np.float64),
            ("half", np.float16, np.float64),
            ("bfloat", to_bfloat, from_bfloat),
        ):
            a_rounded, b_rounded = convert(a), convert(b)
            expected = back(a_rounded).astype(np.float64) @ back(b_rounded).astype(np.float64)
            tolerance = 16 * inner**0.5 * rounding["float32"]  # rounding errors mostly cancel
            got = matmul(a_rounded, b_rounded, name)
            report.check(f"simdgroup_matmul, {name}", f"{rows} x {inner} x {columns}", got, expected, tolerance)

    exit_code = report.finish()
    if arguments.show_layout:
        print_layout(positions)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
