"""What the kernels of this folder should compute, by Python's integers, hashlib and NumPy."""

import hashlib
from collections.abc import Iterable

import numpy

BN254 = 21888242871839275222246405745257275088696311157297823662689037894645226208583
MONTGOMERY = 1 << 256
GOLDILOCKS = (1 << 64) - (1 << 32) + 1
GENERATOR = 7  # of the Goldilocks field's multiplicative group

Affine = tuple[int, int] | None  # None is the point at infinity


def to_limbs(values: Iterable[int]) -> numpy.ndarray:
    """Elements of BN254's field in Montgomery form, a row of limbs each."""
    data = b"".join((value * MONTGOMERY % BN254).to_bytes(32, "little") for value in values)
    return numpy.frombuffer(data, numpy.uint32).reshape(-1, 8)


def from_limbs(limbs: numpy.ndarray) -> list[int]:
    data, back = limbs.tobytes(), pow(MONTGOMERY, -1, BN254)
    return [int.from_bytes(data[i : i + 32], "little") * back % BN254 for i in range(0, len(data), 32)]


def polynomials(x: list[int], coefficients: list[int], terms: int) -> numpy.ndarray:
    """c x^terms + ... + c x + c"""
    results = []
    for value, coefficient in zip(x, coefficients, strict=True):
        result = coefficient
        for _ in range(terms):
            result = (result * value + coefficient) % BN254
        results.append(result)
    return to_limbs(results)


def inverses(values: list[int]) -> numpy.ndarray:
    return to_limbs(pow(value, -1, BN254) if value else 0 for value in values)


def add_points(p: Affine, q: Affine) -> Affine:
    if p is None or q is None:
        return q if p is None else p
    (x, y), (other_x, other_y) = p, q
    if x == other_x:
        if (y + other_y) % BN254 == 0:
            return None
        slope = 3 * x * x * pow(2 * y, -1, BN254)
    else:
        slope = (other_y - y) * pow(other_x - x, -1, BN254)
    sum_x = (slope * slope - x - other_x) % BN254
    return sum_x, (slope * (x - sum_x) - y) % BN254


def negative(p: Affine) -> Affine:
    return p and (p[0], -p[1] % BN254)


def multiples(count: int) -> list[Affine]:
    """0, 1, 2, ... times the point (1, 2) of BN254's curve."""
    points: list[Affine] = [None]
    while len(points) < count:
        points.append(add_points(points[-1], (1, 2)))
    return points


def times(point: Affine, scalar: int) -> Affine:
    result = None
    for digit in f"{scalar:b}":
        result = add_points(result, result)
        if digit == "1":
            result = add_points(result, point)
    return result


def to_jacobian(points: list[Affine], scales: list[int]) -> numpy.ndarray:
    """(x z², y z³, z), where z is the scale; anything with z = 0 is the point at infinity."""
    coordinates = []
    for point, z in zip(points, scales, strict=True):
        coordinates += [point[0] * z**2, point[1] * z**3, z] if point else [z, z, 0]
    return to_limbs(coordinates).reshape(-1, 24)


def to_affine(jacobian: numpy.ndarray) -> numpy.ndarray:
    """Points' x and y, both 0 at infinity: Jacobian coordinates are many for one point."""
    numbers, affine = from_limbs(jacobian), []
    for x, y, z in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        inverse = pow(z, -1, BN254) if z else 0
        affine += [x * inverse**2, y * inverse**3]
    return to_limbs(affine)


def affine_limbs(points: Iterable[Affine]) -> numpy.ndarray:
    return to_limbs(coordinate for point in points for coordinate in (point or (0, 0)))


def digests(algorithm: str, messages: numpy.ndarray) -> numpy.ndarray:
    data = b"".join(hashlib.new(algorithm, message.tobytes()).digest() for message in messages)
    return numpy.frombuffer(data, messages.dtype)


def sponge(messages: numpy.ndarray, constants: numpy.ndarray, matrix: numpy.ndarray, rate: int, full: int) -> numpy.ndarray:
    """All messages at once, in arrays of Python's integers.

    Args:
        messages: a row of elements each.
        constants: a row for each round.
        full: how many rounds raise all elements, half of them at the beginning and half at the end.
    """
    rows, width = messages.shape[0], matrix.shape[0]
    state = numpy.zeros((width, rows), object)
    words, rounds, mixing = (each.astype(object) for each in (messages.T, constants, matrix))
    for at in range(0, len(words), rate):
        state[:rate] += words[at : at + rate]
        for number, added in enumerate(rounds):
            state = (state + added[:, None]) % GOLDILOCKS
            raised = width if number < full // 2 or number >= len(rounds) - full // 2 else 1
            state[:raised] = state[:raised] ** 7 % GOLDILOCKS
            state = mixing.dot(state) % GOLDILOCKS
    return state[:rate].T.astype(numpy.uint64)


def number_transform(rows: numpy.ndarray) -> numpy.ndarray:
    """The number-theoretic transforms of rows by their definition: products with the matrix of powers of a root.

    Both are cut into pieces of 16 bits, the sums of whose products `double` has exactly.
    """
    length = rows.shape[1]
    powers = root_powers(length)
    matrix = powers[numpy.outer(numpy.arange(length), numpy.arange(length)) % length]

    def pieces(values: numpy.ndarray) -> list[numpy.ndarray]:
        return [(values >> numpy.uint64(shift) & numpy.uint64(0xFFFF)).astype(numpy.float64) for shift in range(0, 64, 16)]

    total = numpy.zeros(rows.shape, object)
    for i, left in enumerate(pieces(rows)):
        for j, right in enumerate(pieces(matrix)):
            total += (left @ right).astype(numpy.int64).astype(object) << 16 * (i + j)
    return (total % GOLDILOCKS).astype(numpy.uint64)


def root_powers(order: int) -> numpy.ndarray:
    """Powers of an element of the Goldilocks field of so high an order."""
    root = pow(GENERATOR, (GOLDILOCKS - 1) // order, GOLDILOCKS)
    return numpy.array([pow(root, exponent, GOLDILOCKS) for exponent in range(order)], numpy.uint64)


def attention(
    queries: numpy.ndarray, keys: numpy.ndarray, values: numpy.ndarray, pages: numpy.ndarray, lengths: numpy.ndarray
) -> numpy.ndarray:
    """Of one query for each sequence and head.

    Args:
        queries: sequences x heads x size.
        keys, values: pages x heads of keys x tokens of a page x size.
        pages: of each sequence, in order.
    """
    results = numpy.zeros(queries.shape)
    shared = queries.shape[1] // keys.shape[1]  # heads of queries for one of keys
    for sequence, length in enumerate(lengths):
        for head in range(queries.shape[1]):
            key, value = (
                cache[pages[sequence], head // shared].reshape(-1, cache.shape[-1])[:length].astype(numpy.float64)
                for cache in (keys, values)
            )
            scores = key @ queries[sequence, head] / numpy.sqrt(queries.shape[2])
            weights = numpy.exp(scores - scores.max())
            results[sequence, head] = weights @ value / weights.sum()
    return results


def unpacked(scales: numpy.ndarray, packed: numpy.ndarray) -> numpy.ndarray:
    """Weights of 4 bits as numbers, from blocks of 32 along rows.

    Args:
        scales: rows x blocks.
        packed: rows x blocks x 16 bytes, with weight i in the low and i + 16 in the high bits.
    """
    weights = numpy.concatenate([packed & 15, packed >> 4], axis=-1).astype(numpy.float64) - 8
    return (weights * scales[..., None].astype(numpy.float64)).reshape(scales.shape[0], -1)
