"""y = W x with the weights W in 4 bits, from the body of a kernel alone: the interface of mx.fast.metal_kernel.

`metalloid.fast.metal_kernel` writes the kernel's signature at each call, from the arrays' names, shapes and element
types. The body can use `w_shape` and its like, any of Metal's thread attributes by name, and the template arguments.
The same body runs in MLX on a Mac. Here the arrays are NumPy's; outputs come back as arrays of the same kind.

Language models keep weights so: in groups of `group_size` neighbours in a row, each weight an integer q from 0 to 15
that stands for scale * q + bias, with a scale and a bias per group. Eight weights fill a 32-bit word, the first in the
lowest bits.

One simdgroup computes one row: lane l takes words l, l + 32, ... and simd_sum adds up the lanes. The threadgroup is 32
wide, one simdgroup, and some rows high; the grid is 32 x rows. Where the rows do not fill the last threadgroup, Metal
cuts it, always between simdgroups: no lane is ever missing, and the kernel needs no check.

Arithmetic: over a group, sum (scale q + bias) x = scale sum(q x) + bias sum(x). A word lies in one group, so the sums
are taken per word, in float.
"""

import sys

import numpy as np
from common import Report, rounding
from metalloid.fast import metal_kernel

kernel = metal_kernel(
    name="dequant_matvec",
    input_names=["w", "scales", "biases", "x"],
    output_names=["y"],
    source="""
        const uint row = thread_position_in_grid.y;
        const uint lane = thread_index_in_simdgroup;
        const uint words = w_shape[1];
        const uint groups = scales_shape[1];
        float sum = 0;
        for (uint word = lane; word < words; word += 32) {
          uint packed = w[row * words + word];
          float products = 0, total = 0;
          for (uint i = 0; i < 8; ++i) {
            const float value = float(x[8 * word + i]);
            products = fma(float(packed & 15), value, products);
            total += value;
            packed >>= 4;
          }
          const uint group = row * groups + 8 * word / group_size;
          sum += float(scales[group]) * products + float(biases[group]) * total;
        }
        sum = simd_sum(sum);
        if (lane == 0) {
          y[row] = T(sum);
        }
    """,
)


def dequant_matvec(w, scales, biases, x, group_size: int, rows_per_threadgroup: int = 4):
    """w: (rows, columns / 8) uint32; scales, biases: (rows, columns / group_size); x: (columns,). Returns (rows,)."""
    rows, words = w.shape
    if x.shape != (8 * words,) or scales.shape != (rows, 8 * words // group_size) or scales.shape != biases.shape:
        raise ValueError(f"w {w.shape}, scales {scales.shape}, biases {biases.shape}, x {x.shape} do not fit together")
    if group_size % 8 or 8 * words % group_size:
        raise ValueError("group_size must be a multiple of 8 that divides the columns")
    return kernel(
        inputs=[w, scales, biases, x],
        template=[("T", x.dtype), ("group_size", group_size)],
        grid=(32, rows, 1),
        threadgroup=(32, rows_per_threadgroup, 1),
        output_shapes=[(rows,)],
        output_dtypes=[x.dtype],
        init_value=np.nan,  # so that an element which is never written is seen
    )[0]


def quantise(weights: np.ndarray, group_size: int, dtype):
    """Rounds each weight to one of 16 steps between its group's smallest and largest."""
    rows, columns = weights.shape
    groups = weights.reshape(rows, columns // group_size, group_size)
    low, high = groups.min(axis=-1), groups.max(axis=-1)
    scales, biases = np.maximum((high - low) / 15, 1e-6).astype(dtype), low.astype(dtype)
    q = np.clip(np.round((groups - biases[..., None]) / scales[..., None]), 0, 15).astype(np.uint32)
    shifted = q.reshape(rows, columns // 8, 8) << np.arange(0, 32, 4, dtype=np.uint32)
    return np.bitwise_or.reduce(shifted, axis=-1), scales, biases


def dequantise(w, scales, biases, group_size: int) -> np.ndarray:
    q = (w[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15).reshape(w.shape[0], -1)
    scales, biases = (np.repeat(a.astype(np.float64), group_size, axis=1) for a in (scales, biases))
    return scales * q + biases


def main() -> int:
    random = np.random.default_rng(7)
    report = Report("4-bit matrix times vector; shape: rows x columns")
    for rows, columns, group_size in ((1, 32, 32), (5, 64, 64), (33, 288, 32), (257, 512, 64), (7, 1024, 128)):
        weights = random.standard_normal((rows, columns))
        for dtype in (np.float32, np.float16):
            w, scales, biases = quantise(weights, group_size, dtype)
            exact = dequantise(w, scales, biases, group_size)
            x = random.standard_normal(columns).astype(dtype)
            expected = exact @ x.astype(np.float64)
            y = dequant_matvec(w, scales, biases, x, group_size)
            # scale q and bias are larger than the weight that they add up to, and so is what rounding them costs.
            tolerance = 16 * columns**0.5 * rounding["float32"] + rounding[np.dtype(dtype).name]
            case = f"{np.dtype(dtype).name}, groups of {group_size}"
            report.check(case, (rows, columns), y, expected, tolerance)

    # Rows per threadgroup change nothing in the arithmetic, so the results are the same to the bit.
    w, scales, biases = quantise(random.standard_normal((50, 96)), 32, np.float32)
    x = random.standard_normal(96).astype(np.float32)
    first = dequant_matvec(w, scales, biases, x, 32, 1)
    for rows in (3, 32):
        report.check(f"{rows} rows per threadgroup", (50, 96), dequant_matvec(w, scales, biases, x, 32, rows), first, 0)

    # What the 4 bits themselves cost: at most half a step for each weight.
    weights = random.standard_normal((16, 256))
    w, scales, biases = quantise(weights, 32, np.float32)
    steps = np.repeat(scales, 32, axis=1)
    got, expected = dequantise(w, scales, biases, 32) / steps, weights / steps
    report.check("the format: weights in steps", (16, 256), got, expected, 0.5)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
