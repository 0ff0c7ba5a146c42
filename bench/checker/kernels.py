"""The kernels of bench/opencl/kernels with sizes for the checker, and for an interpreter."""

import dataclasses
from collections.abc import Callable

from work import Array, Value, Work, root

folder = root / "bench" / "opencl" / "kernels"


def _work(name: str, grid: tuple, group: tuple, *arguments: Array | Value) -> Work:
    return Work(folder, name, grid, group, arguments)


def _floats(count: int, fill: float | str = 0.5) -> Array:
    return Array("f32", count, fill)


def saxpy(n: int) -> Work:
    return _work("saxpy", (n,), (256,), _floats(n), _floats(n), Value("f32", 0.5))


def silu(n: int) -> Work:
    return _work("silu", (n,), (256,), _floats(n), _floats(n))


def reduce_tree(n: int) -> Work:
    return _work("reduce_tree", (n // 8,), (256,), _floats(n // 2048), _floats(n))


def reduce_simdgroup(n: int) -> Work:
    return _work("reduce_simdgroup", (n // 8,), (256,), _floats(n // 2048), _floats(n))


def matmul_tiled(n: int) -> Work:
    return _work("matmul_tiled", (n, n), (16, 16), *[_floats(n * n)] * 3, Value("u32", n))


def mandelbrot(n: int) -> Work:
    return _work(
        "mandelbrot", (n, n), (16, 16), Array("u32", n * n), Value("u32", n), Value("f32", 3 / n), Value("u32", 256)
    )


def collatz(n: int) -> Work:
    return _work("collatz", (n,), (256,), Array("u32", n))


def transcendental(n: int) -> Work:
    return _work("transcendental", (n,), (256,), _floats(n), _floats(n))


def black_scholes(n: int) -> Work:
    prices = _floats(n, 20), _floats(n, 30), _floats(n, 2)
    return _work("black_scholes", (n,), (256,), _floats(n), _floats(n), *prices, Value("f32", 0.02), Value("f32", 0.3))


def gather(n: int) -> Work:
    return _work("gather", (n,), (256,), _floats(n), _floats(n), Array("u32", n, "arange"))


def histogram(n: int) -> Work:
    return _work("histogram", (n // 16,), (256,), Array("u32", 256), Array("u32", n, "arange"), Value("u32", n))


def scan(n: int) -> Work:
    return _work("scan", (n,), (256,), Array("u32", n), Array("u32", n // 256), Array("u32", n, 3))


def stencil(n: int) -> Work:
    return _work("stencil", (n, n), (16, 16), *[_floats(n * n)] * 2, Value("u32", n))


def nbody(n: int) -> Work:
    return _work("nbody", (n,), (256,), _floats(4 * n), _floats(4 * n, "arange"), Value("u32", n))


def half_polynomial(n: int) -> Work:
    return _work("half_polynomial", (n,), (256,), *[Array("f16", n, 0.5)] * 2)


def transpose(n: int) -> Work:
    return _work("transpose", (n, n), (16, 16), *[_floats(n * n)] * 2, Value("u32", n))


# What a checked run takes a few tenths of a second for, and what an interpreter takes seconds for.
SIZES: dict[Callable[[int], Work], tuple[int, int]] = {
    saxpy: (1 << 21, 1 << 16),
    silu: (1 << 21, 1 << 16),
    reduce_tree: (1 << 21, 1 << 17),
    reduce_simdgroup: (1 << 21, 1 << 17),
    matmul_tiled: (128, 48),
    mandelbrot: (512, 64),
    collatz: (1 << 16, 1 << 12),
    transcendental: (1 << 20, 1 << 15),
    black_scholes: (1 << 20, 1 << 14),
    gather: (1 << 21, 1 << 16),
    histogram: (1 << 21, 1 << 16),
    scan: (1 << 18, 1 << 12),
    stencil: (1024, 128),
    nbody: (1024, 256),
    half_polynomial: (1 << 21, 1 << 14),
    transpose: (1024, 256),
}


def large(name: str) -> Work:
    return _of(name, 0)


def small(name: str) -> Work:
    return _of(name, 1)


def least(name: str) -> Work:
    """Of small(), the work of one threadgroup."""
    work = small(name).one_group()
    # Its threads share all of the values among those of the grid.
    return dataclasses.replace(work, arguments=(*work.arguments[:2], Value("u32", 256))) if name == "histogram" else work


def _of(name: str, which: int) -> Work:
    (found,) = (make for make in SIZES if make.__name__ == name)
    return found(SIZES[found][which])


NAMES = [make.__name__ for make in SIZES]
