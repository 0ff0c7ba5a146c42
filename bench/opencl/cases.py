"""The kernels of kernels/, which are the same in Metal and in OpenCL C, with arguments and what they should compute."""

import pathlib
from collections.abc import Callable
from typing import Any

import numpy
from case import Case
from measuring import filled, pages

F, H, U = numpy.float32, numpy.float16, numpy.uint32
folder = pathlib.Path(__file__).resolve().parent / "kernels"


def _case(name: str, arguments: list, grid: tuple, group: tuple, expected: Callable, **more: Any) -> Case:
    return Case(folder / f"{name}.metal", name, arguments, grid, group, expected, **more)


def _random(seed: int, count: int, low: float = -1.0, high: float = 1.0) -> numpy.ndarray:
    return filled(numpy.random.default_rng(seed).uniform(low, high, count).astype(F))


def _integers(seed: int, count: int, high: int) -> numpy.ndarray:
    return filled(numpy.random.default_rng(seed).integers(0, high, count, U))


def saxpy() -> Case:
    n = 1 << 24
    x, y, a = _random(1, n), _random(2, n), F(0.5)
    before = y.copy()
    return _case("saxpy", [y, x, a], (n,), (256,), lambda: [a * x + before])


def silu() -> Case:
    n = 1 << 24
    x = _random(1, n, -8, 8)
    return _case("silu", [pages(n, F), x], (n,), (256,), lambda: [x / (1 + numpy.exp(-x))])


def _reduce(name: str) -> Case:
    n = 1 << 24
    x = _random(1, n, 0, 1)
    return _case(name, [pages(n // 2048, F), x], (n // 8,), (256,), lambda: [x.reshape(-1, 2048).sum(1)])


def reduce_tree() -> Case:
    return _reduce("reduce_tree")


def reduce_simdgroup() -> Case:
    return _reduce("reduce_simdgroup")


def matmul_tiled() -> Case:
    n = 1024
    a, b = _random(1, n * n), _random(2, n * n)
    arguments = [pages(n * n, F), a, b, U(n)]
    return _case("matmul_tiled", arguments, (n, n), (16, 16), lambda: [(a.reshape(n, n) @ b.reshape(n, n)).ravel()])


def mandelbrot() -> Case:
    n, limit, scale = 1024, 256, F(3 / 1024)

    def expected():
        c = (numpy.arange(n, dtype=F) * scale - F(2)) + 1j * (numpy.arange(n, dtype=F) * scale - F(1.5))[:, None]
        z, counts, alive = numpy.zeros_like(c), numpy.zeros((n, n), U), numpy.ones((n, n), bool)
        for _ in range(limit):
            alive &= z.real * z.real + z.imag * z.imag <= 4
            counts[alive] += 1
            z[alive] = z[alive] * z[alive] + c[alive]
        return [counts.ravel()]

    return _case("mandelbrot", [pages(n * n, U), U(n), scale, U(limit)], (n, n), (16, 16), expected, differing=0.01)


def collatz() -> Case:
    n = 1 << 17  # the first number whose way to 1 leaves 32 bits is larger

    def expected():
        value, counts = numpy.arange(1, n + 1, dtype=numpy.uint64), numpy.zeros(n, U)
        while (going := value != 1).any():
            value = numpy.where(going, numpy.where(value & 1, 3 * value + 1, value // 2), value)
            counts += going
        return [counts]

    return _case("collatz", [pages(n, U)], (n,), (256,), expected)


def transcendental() -> Case:
    n = 1 << 22
    x = _random(1, n, 0.1, 10)

    def expected():
        d = x.astype(numpy.float64)
        return [numpy.sin(d) * numpy.exp(-d) + numpy.log(d + 1) * numpy.tanh(d) + numpy.cos(d) * numpy.sqrt(d) + d**1.5]

    return _case("transcendental", [pages(n, F), x], (n,), (256,), expected)


def black_scholes() -> Case:
    n, rate, volatility = 1 << 22, F(0.02), F(0.3)
    price, strike, years = _random(1, n, 5, 30), _random(2, n, 1, 100), _random(3, n, 0.25, 10)

    def distribution(d):
        k = 1 / (1 + 0.2316419 * abs(d))
        p = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = 0.39894228 * numpy.exp(-0.5 * d * d) * p
        return numpy.where(d > 0, 1 - tail, tail)

    def expected():
        s, k, t, r, v = (each.astype(numpy.float64) for each in (price, strike, years, rate, volatility))
        d1 = (numpy.log(s / k) + (r + 0.5 * v * v) * t) / (v * numpy.sqrt(t))
        n1, n2, discounted = distribution(d1), distribution(d1 - v * numpy.sqrt(t)), k * numpy.exp(-r * t)
        return [s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1)]

    arguments = [pages(n, F), pages(n, F), price, strike, years, rate, volatility]
    return _case("black_scholes", arguments, (n,), (256,), expected, results=2)


def gather() -> Case:
    n, size = 1 << 23, 1 << 20
    table, indices = _random(1, size), _integers(2, n, size)
    return _case("gather", [pages(n, F), table, indices], (n,), (256,), lambda: [table[indices]], tolerance=0)


def histogram() -> Case:
    n = 1 << 24
    values = _integers(1, n, 256)
    arguments = [pages(256, U), values, U(n)]
    return _case("histogram", arguments, (1 << 16,), (256,), lambda: [numpy.bincount(values, minlength=256)])


def scan() -> Case:
    n = 1 << 23
    values = _integers(1, n, 100)

    def expected():
        sums = values.reshape(-1, 256).cumsum(1, dtype=U)
        return [sums.ravel(), sums[:, -1]]

    return _case("scan", [pages(n, U), pages(n // 256, U), values], (n,), (256,), expected, results=2)


def stencil() -> Case:
    n = 2048
    x = _random(1, n * n)

    def expected():
        square = x.reshape(n, n)
        out, inner = square.copy(), square[1:-1, 1:-1]
        around = square[1:-1, :-2] + square[1:-1, 2:] + square[:-2, 1:-1] + square[2:, 1:-1]
        out[1:-1, 1:-1] = inner + F(0.2) * (around - 4 * inner)
        return [out.ravel()]

    return _case("stencil", [pages(n * n, F), x, U(n)], (n, n), (16, 16), expected)


def nbody() -> Case:
    n = 4096
    bodies = _random(1, 4 * n)

    def expected():
        rows = bodies.reshape(n, 4).astype(numpy.float64)
        position, mass = rows[:, :3], rows[:, 3]
        square = (position**2).sum(1)
        distance = square[:, None] + square[None, :] - 2 * position @ position.T + 0.01
        weight = mass[None, :] * distance**-1.5
        result = numpy.zeros((n, 4))
        result[:, :3] = weight @ position - weight.sum(1)[:, None] * position
        return [result.ravel()]

    return _case("nbody", [pages(4 * n, F), bodies, U(n)], (n,), (256,), expected, tolerance=1e-3)


def half_polynomial() -> Case:
    n = 1 << 24
    x = filled(numpy.random.default_rng(1).uniform(-1, 1, n).astype(H))

    def expected():
        total = numpy.full(n, 0.125)
        for _ in range(16):
            total = total * x + 0.25
        return [total]

    return _case("half_polynomial", [pages(n, H), x], (n,), (256,), expected, tolerance=1e-2)


def transpose() -> Case:
    n = 2048
    x = _random(1, n * n)
    arguments = [pages(n * n, F), x, U(n)]
    return _case("transpose", arguments, (n, n), (16, 16), lambda: [x.reshape(n, n).T.ravel()], tolerance=0)


CASES: dict[str, Callable[[], Case]] = {
    make.__name__: make
    for make in (
        saxpy, silu, reduce_tree, reduce_simdgroup, matmul_tiled, mandelbrot, collatz, transcendental, black_scholes,
        gather, histogram, scan, stencil, nbody, half_polynomial, transpose,
    )
}  # fmt: skip


def make_case(name: str) -> Case:
    return CASES[name]()
