"""Functions of Metal's library, on arrays: of each its parameters, its result's type and what it computes.

Results are exact but for those of `approximate`, which have the errors that Metal's specification allows (section 8.4).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from . import arithmetic
from .arithmetic import bits_of, exact, saturated, wrapped
from .scalar_types import Type, type_of, uint_type


def _popcount(x, t):
    return np.bitwise_count(bits_of(x, t)).astype(t.dtype)


def _bit_length(bits):
    """Of unsigned integers of up to 64 bits."""
    length = np.zeros(np.shape(bits), np.int64)
    bits = bits.astype(np.uint64)
    for step in (32, 16, 8, 4, 2, 1):
        more = bits >= np.uint64(1 << step)
        length += np.where(more, step, 0)
        bits = np.where(more, bits >> np.uint64(step), bits)
    return length + (bits != 0)


def _clz(x, t):
    return (t.bits - _bit_length(bits_of(x, t))).astype(t.dtype)


def _ctz(x, t):
    bits = exact(bits_of(x, t), t.unsigned)
    return np.where(np.asarray(x) == 0, t.bits, _bit_length(np.asarray(bits & -bits)) - 1).astype(t.dtype)


def _reverse_bits(x, t):
    bits, result = bits_of(x, t), 0
    one = bits.dtype.type(1)
    result = np.zeros_like(bits)
    for place in range(t.bits):
        result |= ((bits >> bits.dtype.type(place)) & one) << bits.dtype.type(t.bits - 1 - place)
    return result.view(t.dtype)


def _rotate(x, n, t):
    bits = exact(bits_of(x, t), t.unsigned)
    left = exact(np.asarray(n) & t.dtype.type(t.bits - 1), t)
    return wrapped((bits << left) | (bits >> (t.bits - left)), t)


def _offset_and_count(offset, count, t):
    """Within the type: beyond it is undefined."""
    offset = exact(offset, uint_type) % t.bits
    return offset, np.minimum(exact(count, uint_type), t.bits - offset)


def _extract_bits(x, offset, count, t):
    offset, count = _offset_and_count(offset, count, t)
    mask = (np.asarray(1, object) << count) - 1
    found = (exact(bits_of(x, t), ulong) >> offset) & mask
    if t.kind == "i":
        found = np.where((found & ((mask + 1) >> 1)) != 0, found - mask - 1, found)
    return wrapped(found, t)


def _insert_bits(base, insert, offset, count, t):
    offset, count = _offset_and_count(offset, count, t)
    mask = ((np.asarray(1, object) << count) - 1) << offset
    base, insert = exact(bits_of(base, t), ulong), exact(bits_of(insert, t), ulong)
    return wrapped((base & ~mask) | ((insert << offset) & mask), t)


ulong = type_of("ulong")


def _low_24(x, t):
    low = exact(x, t) & 0xFFFFFF
    return np.where(low >> 23 != 0, low - (1 << 24), low) if t.kind == "i" else low


def _on_exact(function: Callable, clamps: bool = False) -> Callable:
    """A function of integers that do not overflow, whose result wraps or saturates."""

    def compute(*arguments):
        *values, t = arguments
        result = function(*(exact(value, t) for value in values))
        return saturated(result, t) if clamps else wrapped(result, t)

    return compute


@dataclasses.dataclass(frozen=True)
class Function:
    """`parameters`: of each the type for a `T`: "T" or a type's name. `compute` takes the values, and T."""

    parameters: tuple[str, ...]
    compute: Callable
    kinds: str = "iu"  # of T
    result: str = "T"  # also "unsigned", "bool"
    sizes: tuple[int, ...] = (8, 16, 32, 64)
    vectors: bool = True

    def result_type(self, t: Type) -> Type:
        if self.result == "unsigned":
            return t.unsigned
        return type_of("bool", t.lanes) if self.result == "bool" else t


_one, _two, _three = ("T",), ("T", "T"), ("T", "T", "T")
of_integers = {
    "abs": Function(_one, _on_exact(lambda x: np.abs(x))),
    "absdiff": Function(
        _two, lambda x, y, t: wrapped(np.abs(exact(x, t) - exact(y, t)), t.unsigned), result="unsigned"
    ),
    "addsat": Function(_two, _on_exact(lambda x, y: x + y, True)),
    "subsat": Function(_two, _on_exact(lambda x, y: x - y, True)),
    "hadd": Function(_two, _on_exact(lambda x, y: (x + y) >> 1)),
    "rhadd": Function(_two, _on_exact(lambda x, y: (x + y + 1) >> 1)),
    "max": Function(_two, lambda x, y, t: np.maximum(x, y)),
    "min": Function(_two, lambda x, y, t: np.minimum(x, y)),
    "max3": Function(_three, lambda x, y, z, t: np.maximum(np.maximum(x, y), z)),
    "min3": Function(_three, lambda x, y, z, t: np.minimum(np.minimum(x, y), z)),
    "median3": Function(_three, lambda x, y, z, t: np.maximum(np.minimum(x, y), np.minimum(np.maximum(x, y), z))),
    "mulhi": Function(_two, lambda x, y, t: wrapped((exact(x, ulong) * exact(y, ulong)) >> t.bits, t)),
    "madhi": Function(
        _three, lambda x, y, z, t: wrapped(((exact(x, ulong) * exact(y, ulong)) >> t.bits) + exact(z, ulong), t)
    ),
    "madsat": Function(_three, _on_exact(lambda x, y, z: x * y + z, True)),
    "mul24": Function(_two, lambda x, y, t: wrapped(_low_24(x, t) * _low_24(y, t), t), sizes=(32,)),
    "mad24": Function(_three, lambda x, y, z, t: wrapped(_low_24(x, t) * _low_24(y, t) + exact(z, t), t), sizes=(32,)),
    "popcount": Function(_one, _popcount),
    "clz": Function(_one, _clz),
    "ctz": Function(_one, _ctz),
    "reverse_bits": Function(_one, _reverse_bits),
    "rotate": Function(_two, _rotate),
    "extract_bits": Function(("T", "uint", "uint"), _extract_bits),
    "insert_bits": Function(("T", "T", "uint", "uint"), _insert_bits),
    "select": Function(("T", "T", "bool"), lambda x, y, c, t: np.where(c, y, x), kinds="iuf"),
}


def _rounded(function: Callable) -> Callable:
    """Computed in double, exactly or with one rounding that the shorter type cannot see."""

    def compute(*arguments):
        *values, t = arguments
        return arithmetic.round_to(np.asarray(function(*(np.asarray(v).astype(np.float64) for v in values))), t)

    return compute


def _without_sign_of_zero(function: Callable) -> Callable:
    return lambda *arguments: function(*arguments) + arguments[-1].dtype.type(0)


def _nan_loses(choose: Callable) -> Callable:
    """One NaN among the operands: the result is the other."""
    return lambda x, y, t: choose(x, y)


_float_only = {"kinds": "f", "sizes": (16, 32)}
# In safe mathematics. -0.0 or 0.0 is open for min and max, so the printed code adds 0.
of_floats = {
    "fabs": Function(_one, lambda x, t: np.abs(x), **_float_only),
    "floor": Function(_one, _rounded(np.floor), **_float_only),
    "ceil": Function(_one, _rounded(np.ceil), **_float_only),
    "trunc": Function(_one, _rounded(np.trunc), **_float_only),
    "rint": Function(_one, _rounded(np.rint), **_float_only),
    "round": Function(
        _one,
        _rounded(lambda x: np.where(np.abs(x) < 2.0**52, np.copysign(np.floor(np.abs(x) + 0.5), x), x)),
        **_float_only,
    ),
    "sqrt": Function(_one, _rounded(np.sqrt), **_float_only),
    "fmin": Function(_two, _nan_loses(np.fmin), **_float_only),
    "fmax": Function(_two, _nan_loses(np.fmax), **_float_only),
    "fma": Function(_three, lambda x, y, z, t: arithmetic.fused_multiply_add(x, y, z, t), **_float_only),
    "isnan": Function(_one, lambda x, t: np.isnan(x), result="bool", **_float_only),
    "isinf": Function(_one, lambda x, t: np.isinf(x), result="bool", **_float_only),
    "isfinite": Function(_one, lambda x, t: np.isfinite(x), result="bool", **_float_only),
}
needs_zero_added = ("fmin", "fmax")

table = {**of_integers, **of_floats}


@dataclasses.dataclass(frozen=True)
class Approximate:
    """Of floats `low + n * step`, n from 0 to 1023, which are exact. What it may miss in precise mathematics, in units
    in the last place, and in fast mathematics: those, or as much as `absolute` (MSL specification, section 8.4)."""

    compute: Callable
    low: float
    step: float
    ulp: float
    fast_ulp: float
    absolute: float = 0

    def argument(self, n: np.ndarray) -> np.ndarray:
        return self.low + n * self.step


approximate = {
    "exp": Approximate(np.exp, -16, 1 / 32, 4, 36),
    "exp2": Approximate(np.exp2, -16, 1 / 32, 4, 36),
    "log": Approximate(np.log, 1 / 64, 1 / 64, 4, 4, 2.0**-21),
    "log2": Approximate(np.log2, 1 / 64, 1 / 64, 4, 4, 2.0**-21),
    "log10": Approximate(np.log10, 1 / 64, 1 / 64, 4, 4, 2.0**-21),
    "sin": Approximate(np.sin, -3, 1 / 256, 4, 4, 2.0**-13),
    "cos": Approximate(np.cos, -3, 1 / 256, 4, 4, 2.0**-13),
    "tan": Approximate(np.tan, -1, 1 / 512, 6, 6, 2.0**-10),
    "asin": Approximate(np.arcsin, -1, 1 / 512, 4, 5, 2.0**-16),
    "acos": Approximate(np.arccos, -1, 1 / 512, 4, 5, 2.0**-16),
    "atan": Approximate(np.arctan, -64, 1 / 8, 5, 5),
    "sinh": Approximate(np.sinh, -8, 1 / 64, 4, 64, 2.0**-20),
    "cosh": Approximate(np.cosh, -8, 1 / 64, 4, 64),
    "tanh": Approximate(np.tanh, -8, 1 / 64, 5, 64, 2.0**-20),
    "rsqrt": Approximate(lambda x: 1 / np.sqrt(x), 1 / 64, 1 / 64, 4, 4),
}
