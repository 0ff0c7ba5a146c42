"""Rotary position embedding of many heads, with a derivative: an MLX script as one writes it for a Mac.

It calls `mx.fast.metal_kernel` and knows nothing of Metalloid. Elsewhere it runs as it stands by

    python -m metalloid.mlx examples/python/rope_mlx.py

x has shape (batch, heads, length, size). At place p, pair i of a head's size / 2 pairs of elements is turned by the
angle p * base^(-2 i / size): fast for the first pairs, slowly for the last. Which elements make a pair is the one thing
that models disagree on: neighbours (2 i, 2 i + 1), "interleaved", or the halves (i, i + size / 2). `offset` is the
place of the first element, for decoding with a cache.

One thread turns one pair. The grid has three dimensions, pairs x length x (batch * heads), so that the kernel finds its
pair, place and head without a division; a thread writes the two elements that it reads, and nobody else's.

The derivative: a rotation's transpose turns backwards. So the gradient of x is the cotangent turned by the negative
angle, and the same kernel computes it; `mx.custom_function` says so to MLX.

Floating point: the angle is computed in float, so at place p it is wrong by up to p * 2^-22 or so. At place 100,000
that is 0.02: the tolerance of the last rows of the table. Half and bfloat elements are turned in float.
"""

import sys

import mlx.core as mx
import numpy as np
from common import Report, rounding

kernel = mx.fast.metal_kernel(
    name="rope",
    input_names=["x", "offset", "base"],
    output_names=["out"],
    source="""
        const uint pair = thread_position_in_grid.x;
        const uint place = thread_position_in_grid.y;
        const uint pairs = threads_per_grid.x;
        const uint row = thread_position_in_grid.z * threads_per_grid.y + place;

        const uint first = 2 * pairs * row + (interleaved ? 2 * pair : pair);
        const uint second = first + (interleaved ? 1 : pairs);
        const float frequency = metal::precise::pow(base, -float(pair) / float(pairs));
        const float angle = float(int(place) + offset) * frequency;
        const float c = metal::precise::cos(angle);
        const float s = backwards ? -metal::precise::sin(angle) : metal::precise::sin(angle);

        const float a = float(x[first]);
        const float b = float(x[second]);
        out[first] = T(a * c - b * s);
        out[second] = T(a * s + b * c);
    """,
)


def rotate(x: mx.array, offset: int, base: float, interleaved: bool, backwards: bool) -> mx.array:
    batch, heads, length, size = x.shape
    if size % 2:
        raise ValueError(f"the heads' size must be even, not {size}")
    grid = (size // 2, length, batch * heads)
    return kernel(
        inputs=[x, offset, base],
        template=[("T", x.dtype), ("interleaved", interleaved), ("backwards", backwards)],
        grid=grid,
        threadgroup=(min(32, grid[0]), min(8, grid[1]), 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
        init_value=float("nan"),
    )[0]


def rope(x: mx.array, offset: int = 0, base: float = 10000.0, interleaved: bool = False) -> mx.array:
    """x: (batch, heads, length, size), of float32, float16 or bfloat16. Differentiable in x."""

    @mx.custom_function
    def forward(x):
        return rotate(x, offset, base, interleaved, backwards=False)

    @forward.vjp
    def backward(x, cotangent, output):
        return rotate(cotangent, offset, base, interleaved, backwards=True)

    return forward(x)


def reference(x: np.ndarray, offset: int, base: float, interleaved: bool) -> np.ndarray:
    """The same by complex numbers: a rotation is a product."""
    length, size = x.shape[-2:]
    x = x.astype(np.float64)
    pairs = x[..., 0::2] + 1j * x[..., 1::2] if interleaved else x[..., : size // 2] + 1j * x[..., size // 2 :]
    angles = np.arange(offset, offset + length)[:, None] * base ** (-2 * np.arange(size // 2) / size)
    turned = pairs * np.exp(1j * angles)
    if interleaved:
        return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
    return np.concatenate([turned.real, turned.imag], axis=-1)


def as_numpy(x: mx.array) -> np.ndarray:
    return np.array(x.astype(mx.float32))


def main() -> int:
    mx.random.seed(8)
    report = Report("RoPE; shape: batch x heads x length x size", case_width=40)

    def check(case: str, x: mx.array, offset: int = 0, base: float = 10000.0, interleaved: bool = False) -> None:
        tolerance = 8 * rounding["float32"] + (offset + x.shape[2]) * 2.0**-21  # elements are at most about 4
        tolerance += rounding[str(x.dtype).removeprefix("mlx.core.")]
        got = as_numpy(rope(x, offset, base, interleaved))
        report.check(case, x.shape, got, reference(as_numpy(x), offset, base, interleaved), tolerance)

    for shape in ((1, 1, 1, 2), (2, 3, 5, 8), (1, 8, 33, 64), (2, 1, 257, 10)):
        x = mx.random.normal(shape)
        check("halves", x)
        check("interleaved", x, interleaved=True)
    x = mx.random.normal((1, 4, 7, 32))
    for dtype in (mx.float16, mx.bfloat16):
        check(str(dtype).removeprefix("mlx.core."), x.astype(dtype))
    check("not contiguous", mx.random.normal((1, 7, 4, 32)).transpose(0, 2, 1, 3))
    for base in (10000.0, 500000.0):
        check(f"decoding at place 1000, base {base:.0f}", x[:, :, :1], 1000, base)
        check(f"place 100000, base {base:.0f}", x, 100_000, base, interleaved=True)

    # The gradient of sum(rope(x) * t) is t turned backwards: compared with the exact derivative of the reference,
    # which is linear in x, so that differences of it are exact up to rounding.
    x, t = mx.random.normal((2, 2, 3, 6)), mx.random.normal((2, 2, 3, 6))
    for interleaved in (False, True):
        gradient = mx.grad(lambda x: (rope(x, 5, 10000.0, interleaved) * t).sum())(x)
        values = as_numpy(x).astype(np.float64)
        exact = np.empty(values.size)
        for i in range(values.size):
            unit = np.zeros(values.size)
            unit[i] = 1
            exact[i] = (reference(unit.reshape(x.shape), 5, 10000.0, interleaved) * as_numpy(t)).sum()
        case = "gradient, interleaved" if interleaved else "gradient, halves"
        report.check(case, x.shape, as_numpy(gradient), exact.reshape(x.shape), 32 * rounding["float32"])
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
