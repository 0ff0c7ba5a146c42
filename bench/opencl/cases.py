"""The kernels of kernels/, which are the same in Metal and in OpenCL C, with arguments and what they should compute."""

import dataclasses
from collections.abc import Callable

import numpy

from measuring import filled, pages

F, H, U = numpy.float32, numpy.float16, numpy.uint32


@dataclasses.dataclass(frozen=True)
class Case:
    arguments: list  # arrays and NumPy scalars, in the order of the buffers
    grid: tuple[int, ...]  # threads
    group: tuple[int, ...]
    expected: Callable[[], list[numpy.ndarray]]  # the contents of the first arguments after a run
    results: int = 1  # how many of the arguments are results
    tolerance: float = 1e-4  # of the element or the root mean square of all, whichever is larger
    differing: float = 0.0  # part of the elements that may differ by more, where rounding decides about a loop's end


def _random(seed: int, count: int, low: float = -1.0, high: float = 1.0) -> numpy.ndarray:
    return filled(numpy.random.default_rng(seed).uniform(low, high, count).astype(F))


def _integers(seed: int, count: int, high: int) -> numpy.ndarray:
    return filled(numpy.random.default_rng(seed).integers(0, high, count, U))


def saxpy() -> Case:
    n = 1 << 24
    x, y, a = _random(1, n), _random(2, n), F(0.5)
    before = y.copy()
    return Case([y, x, a], (n,), (256,), lambda: [a * x + before])


def silu() -> Case:
    n = 1 << 24
    x = _random(1, n, -8, 8)
    return Case([pages(n, F), x], (n,), (256,), lambda: [x / (1 + numpy.exp(-x))])


def reduce_tree() -> Case:
    n = 1 << 24
    x = _random(1, n, 0, 1)
    return Case([pages(n // 2048, F), x], (n // 8,), (256,), lambda: [x.reshape(-1, 2048).sum(1)])


def reduce_simdgroup() -> Case:
    return reduce_tree()


def matmul_tiled() -> Case:
    n = 1024
    a, b = _random(1, n * n), _random(2, n * n)
    return Case(
        [pages(n * n, F), a, b, U(n)], (n, n), (16, 16), lambda: [(a.reshape(n, n) @ b.reshape(n, n)).ravel()]
    )


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

    return Case([pages(n * n, U), U(n), scale, U(limit)], (n, n), (16, 16), expected, differing=0.01)


def collatz() -> Case:
    n = 1 << 17  # the first number whose way to 1 leaves 32 bits is larger

    def expected():
        value, counts = numpy.arange(1, n + 1, dtype=numpy.uint64), numpy.zeros(n, U)
        while (going := value != 1).any():
            value = numpy.where(going, numpy.where(value & 1, 3 * value + 1, value // 2), value)
            counts += going
        return [counts]

    return Case([pages(n, U)], (n,), (256,), expected)


def transcendental() -> Case:
    n = 1 << 22
    x = _random(1, n, 0.1, 10)

    def expected():
        d = x.astype(numpy.float64)
        return [numpy.sin(d) * numpy.exp(-d) + numpy.log(d + 1) * numpy.tanh(d) + numpy.cos(d) * numpy.sqrt(d) + d**1.5]

    return Case([pages(n, F), x], (n,), (256,), expected)


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
    return Case(arguments, (n,), (256,), expected, results=2)


def gather() -> Case:
    n, size = 1 << 23, 1 << 20
    table, indices = _random(1, size), _integers(2, n, size)
    return Case([pages(n, F), table, indices], (n,), (256,), lambda: [table[indices]], tolerance=0)


def histogram() -> Case:
    n = 1 << 24
    values = _integers(1, n, 256)
    return Case([pages(256, U), values, U(n)], (1 << 16,), (256,), lambda: [numpy.bincount(values, minlength=256)])


def scan() -> Case:
    n = 1 << 23
    values = _integers(1, n, 100)

    def expected():
        sums = values.reshape(-1, 256).cumsum(1, dtype=U)
        return [sums.ravel(), sums[:, -1]]

    return Case([pages(n, U), pages(n // 256, U), values], (n,), (256,), expected, results=2)


def stencil() -> Case:
    n = 2048
    x = _random(1, n * n)

    def expected():
        square = x.reshape(n, n)
        out, inner = square.copy(), square[1:-1, 1:-1]
        around = square[1:-1, :-2] + square[1:-1, 2:] + square[:-2, 1:-1] + square[2:, 1:-1]
        out[1:-1, 1:-1] = inner + F(0.2) * (around - 4 * inner)
        return [out.ravel()]

    return Case([pages(n * n, F), x, U(n)], (n, n), (16, 16), expected)


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

    return Case([pages(4 * n, F), bodies, U(n)], (n,), (256,), expected, tolerance=1e-3)


def half_polynomial() -> Case:
    n = 1 << 24
    x = filled(numpy.random.default_rng(1).uniform(-1, 1, n).astype(H))

    def expected():
        total = numpy.full(n, 0.125)
        for _ in range(16):
            total = total * x + 0.25
        return [total]

    return Case([pages(n, H), x], (n,), (256,), expected, tolerance=1e-2)


def transpose() -> Case:
    n = 2048
    x = _random(1, n * n)
    return Case([pages(n * n, F), x, U(n)], (n, n), (16, 16), lambda: [x.reshape(n, n).T.ravel()], tolerance=0)


CASES: dict[str, Callable[[], Case]] = {
    make.__name__: make
    for make in (
        saxpy, silu, reduce_tree, reduce_simdgroup, matmul_tiled, mandelbrot, collatz, transcendental, black_scholes,
        gather, histogram, scan, stencil, nbody, half_polynomial, transpose,
    )
}  # fmt: skip


def difference(case: Case, result: numpy.ndarray, expected: numpy.ndarray) -> str | None:
    """How a result differs from what is expected; None if it does not."""
    if result.dtype.kind == "u":
        wrong = result != expected
    else:
        expected = expected.astype(numpy.float64)
        size = numpy.maximum(abs(expected), numpy.sqrt(numpy.mean(expected**2)))
        wrong = ~(abs(result - expected) <= case.tolerance * size)
    if wrong.mean() <= case.differing:
        return None
    first = int(numpy.argmax(wrong))
    return f"{wrong.sum()} of {wrong.size} elements; [{first}] is {result[first]}, not {expected[first]}"
