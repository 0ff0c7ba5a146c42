"""Large kernels, as those of cryptography and of language models are: with their sizes, arguments and oracles."""

import functools
import pathlib
from collections.abc import Callable

import numpy
from case import Case
from large import oracles
from measuring import filled, pages

F, H, U, L = numpy.float32, numpy.float16, numpy.uint32, numpy.uint64
here = pathlib.Path(__file__).resolve().parent

GROUP = 64  # threads, of kernels without barriers


def _numbers(seed: int, count: int) -> list[int]:
    """Elements of BN254's field: 0, 1, -1 and random ones."""
    data = numpy.random.default_rng(seed).bytes(32 * count)
    random = [int.from_bytes(data[i : i + 32], "little") % oracles.BN254 for i in range(0, len(data), 32)]
    return [0, 1, oracles.BN254 - 1, *random[3:]]


def _elements(seed: int, *shape: int) -> numpy.ndarray:
    """Of the Goldilocks field, with the largest among them."""
    values = numpy.random.default_rng(seed).integers(0, oracles.GOLDILOCKS, shape, L)
    values.flat[0] = oracles.GOLDILOCKS - 1
    return filled(values)


def _normal(seed: int, *shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(seed).standard_normal(shape, F)


def _words(seed: int, *shape: int, dtype: type = U) -> numpy.ndarray:
    return filled(numpy.random.default_rng(seed).integers(0, numpy.iinfo(dtype).max, shape, dtype, endpoint=True))


def _case(name: str, arguments: list, threads: int, expected: Callable[[], numpy.ndarray], **more) -> Case:
    return Case(here / f"{name}.metal", name, arguments, (threads,), (GROUP,), lambda: [expected()], **more)


def modular_multiplication(count: int) -> Case:
    terms, x, coefficients = 8, _numbers(1, count), _numbers(2, count)
    arguments = [pages((count, 8), U), filled(oracles.to_limbs(x)), filled(oracles.to_limbs(coefficients)), U(terms)]
    return _case("modular_multiplication", arguments, count, lambda: oracles.polynomials(x, coefficients, terms))


def modular_inversion(count: int) -> Case:
    values = _numbers(1, count)
    arguments = [pages((count, 8), U), filled(oracles.to_limbs(values))]
    return _case("modular_inversion", arguments, count, lambda: oracles.inverses(values))


def _affine(results: list[numpy.ndarray]) -> list[numpy.ndarray]:
    return [oracles.to_affine(results[0])]


def point_addition(count: int) -> Case:
    points = oracles.multiples(257)
    random = numpy.random.default_rng(1)
    p, q = ([points[i] for i in random.integers(0, len(points), count)] for _ in range(2))
    for i in range(0, count, 16):  # sums that are multiples of one point, and that are infinity
        q[i], q[i + 1] = p[i], oracles.negative(p[i + 1])
    scales = [[scale or 1 for scale in _numbers(seed, count)] for seed in (2, 3)]
    jacobian = [filled(oracles.to_jacobian(*each)) for each in zip((p, q), scales, strict=True)]
    return _case(
        "point_addition", [pages((count, 24), U), *jacobian], count,
        lambda: oracles.affine_limbs(map(oracles.add_points, p, q)), compared=_affine,
    )  # fmt: skip


def scalar_multiplication(count: int) -> Case:
    points, random = oracles.multiples(257), numpy.random.default_rng(1)
    chosen = [points[i] for i in random.integers(0, len(points), count)]
    scalars = filled(random.integers(0, 1 << 12, count, U))
    scalars[:3] = 0, 1, 2
    jacobian = filled(oracles.to_jacobian(chosen, [scale or 1 for scale in _numbers(2, count)]))
    return _case(
        "scalar_multiplication", [pages((count, 24), U), jacobian, scalars], count,
        lambda: oracles.affine_limbs(map(oracles.times, chosen, map(int, scalars))), compared=_affine,
    )  # fmt: skip


def sha3(count: int) -> Case:
    messages = _words(1, count, 8, dtype=L)
    return _case("sha3", [pages((count, 4), L), messages], count, lambda: oracles.digests("sha3_256", messages))


def sha256(count: int) -> Case:
    messages = _words(1, count, 16)
    return _case("sha256", [pages((count, 8), U), messages], count, lambda: oracles.digests("sha256", messages))


def sponge(count: int) -> Case:
    blocks, width, rate, full, partial = 2, 8, 4, 8, 22
    messages, constants, matrix = _elements(1, count, blocks * rate), _elements(2, full + partial, width), _elements(3, width, width)
    arguments = [pages((count, rate), L), messages, constants, matrix, U(blocks)]
    return _case("sponge", arguments, count, lambda: oracles.sponge(messages, constants, matrix, rate, full))


def fft(count: int) -> Case:
    signals = filled(_normal(1, count, 4096, 2))

    def expected() -> list[numpy.ndarray]:
        transformed = numpy.fft.fft(signals[..., 0].astype(numpy.float64) + 1j * signals[..., 1])
        return [numpy.stack([transformed.real, transformed.imag], -1)]

    return Case(here / "fft.metal", "fft", [pages(signals.shape, F), signals], (count * 256,), (256,), expected)


def ntt(count: int) -> Case:
    rows = _elements(1, count, 1024)
    arguments = [pages(rows.shape, L), rows, filled(oracles.root_powers(1024))]
    return Case(here / "ntt.metal", "ntt", arguments, (count * 256,), (256,), lambda: [oracles.number_transform(rows)])


def paged_attention(count: int) -> Case:
    heads, key_heads, size, page, page_count = 8, 2, 64, 16, 32
    random = numpy.random.default_rng(1)
    lengths = filled(random.integers(1, page * page_count, count, U, endpoint=True))
    order = filled(random.permutation(count * page_count).astype(U).reshape(count, page_count))
    queries = filled(_normal(2, count, heads, size))
    keys, values = (filled(_normal(seed, order.size, key_heads, page, size).astype(H)) for seed in (3, 4))
    shape = numpy.array([(heads, page_count, size**-0.5)], [("heads", U), ("pages", U), ("scale", F)])
    arguments = [pages(queries.shape, F), queries, keys, values, order, lengths, shape.view(numpy.uint8)]
    return Case(
        here / "paged_attention.metal", "paged_attention", arguments, (heads * 128, count), (128, 1),
        lambda: [oracles.attention(queries, keys, values, order, lengths)],
    )  # fmt: skip


def _product(rows: int, columns: int, depth: int) -> tuple[list[numpy.ndarray], Callable[[], list[numpy.ndarray]]]:
    """The result, x, the weights in blocks and all sizes, and what they should give."""
    x, scales = filled(_normal(1, rows, depth).astype(H)), _normal(2, columns, depth // 32).astype(H)
    blocks = pages((columns, depth // 32), numpy.dtype([("scale", H), ("packed", numpy.uint8, 16)]))
    blocks["scale"], blocks["packed"] = scales, _words(3, columns, depth // 32, 16, dtype=numpy.uint8)
    weights = blocks.view(numpy.uint8)

    def expected() -> list[numpy.ndarray]:
        return [x.astype(numpy.float64) @ oracles.unpacked(scales, blocks["packed"]).T]

    return [pages((rows, columns), F), x, weights, numpy.array([rows, columns, depth], U)], expected


# What is unpacked is rounded to half, as a product of two halves is.
HALF = 2e-3


def quantised_product(size: int) -> Case:
    arguments, expected = _product(size, size, size)
    grid = (size // 32 * 128, size // 32)
    return Case(here / "quantised_product.metal", "quantised_product", arguments, grid, (128, 1), expected, tolerance=HALF)


def quantised_tensor_product(size: int) -> Case:
    arguments, expected = _product(size, size, size)
    grid = (size // 32 * 128, size // 64)
    return Case(
        here / "quantised_tensor_product.metal", "quantised_tensor_product", arguments, grid, (128, 1), expected,
        tolerance=HALF, language="metal4.0",
    )  # fmt: skip


# Each with its measured and its least size. The reference engine takes up to 0.3 s for the former.
CASES: dict[str, tuple[Callable[[int], Case], int, int]] = {
    "modular_multiplication": (modular_multiplication, 1 << 16, 64),
    "modular_inversion": (modular_inversion, 1 << 11, 64),
    "point_addition": (point_addition, 1 << 14, 64),
    "scalar_multiplication": (scalar_multiplication, 1 << 12, 64),
    "sha3": (sha3, 1 << 15, 64),
    "sponge": (sponge, 1 << 12, 64),
    "sha256": (sha256, 1 << 17, 64),
    "fft": (fft, 256, 1),
    "ntt": (ntt, 256, 1),
    "paged_attention": (paged_attention, 32, 2),
    "quantised_product": (quantised_product, 320, 64),
    "quantised_tensor_product": (quantised_tensor_product, 320, 64),
}


def make_case(name: str, small: bool = False) -> Case:
    make, size, least = CASES[name]
    return make(least if small else size)


make_small_case = functools.partial(make_case, small=True)
