"""Arithmetic on arrays, exactly as Metal's types have it: wrapping integers, saturating conversions, and half, bfloat
and float rounded once to nearest even."""

from __future__ import annotations

import numpy as np

from .scalar_types import Type, type_of


def convert(value: np.ndarray, source: Type, target: Type) -> np.ndarray:
    """As a cast does. Floating-point numbers out of an integer's range saturate, and NaN becomes 0."""
    if source.scalar == target.scalar:
        return value
    if target.kind == "b":
        return value != 0
    if source.kind != "f":
        if target.kind != "f":
            return value.astype(target.dtype)
        return round_to(_as_double_rounded_to_odd(value), target)
    if target.kind == "f":
        return round_to(value.astype(np.float64), target)
    whole = np.trunc(value.astype(np.float64))
    inside = (whole > float(target.smallest) - 1) & (whole < float(target.largest))
    result = np.where(inside, whole, 0).astype(target.dtype)
    result = np.where(whole >= float(target.largest), target.dtype.type(target.largest), result)
    return np.where(whole <= float(target.smallest), target.dtype.type(target.smallest), result)


def _as_double_rounded_to_odd(value: np.ndarray) -> np.ndarray:
    """Integers as doubles that round to any shorter type as the integer itself does."""
    if value.dtype.itemsize < 8:
        return value.astype(np.float64)
    is_large = (value > 1 << 53) if value.dtype == np.uint64 else (value > 1 << 53) | (value < -(1 << 53))
    low = value & value.dtype.type(0x7FF)
    sticky = (value - low) | np.where(low != 0, value.dtype.type(0x800), value.dtype.type(0))
    return np.where(is_large, sticky, value).astype(np.float64)


def _to_odd(rounded: np.ndarray, error: np.ndarray, integer: type) -> np.ndarray:
    """The neighbour with an odd last bit, where `rounded` misses the exact value by `error` and is even."""
    wrong = np.isfinite(error) & (error != 0) & ((rounded.view(integer) & integer(1)) == 0)
    towards = np.where(error > 0, np.inf, -np.inf).astype(rounded.dtype)
    return np.where(wrong, np.nextafter(rounded, towards), rounded)


def round_to(value: np.ndarray, target: Type) -> np.ndarray:
    """A double as half, bfloat or float, to nearest even."""
    if target.scalar != "bfloat":
        return value.astype(target.dtype)
    single = np.asarray(value.astype(np.float32))
    exact = np.where(np.isfinite(value), value, 0)
    error = np.where(np.isfinite(value), exact - np.where(np.isinf(single), np.copysign(2.0**128, exact), single), 0)
    return bfloat_of_float(_to_odd(single, error, np.uint32))


def bfloat_of_float(value: np.ndarray) -> np.ndarray:
    bits = np.asarray(value, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(value), np.float32(np.nan), rounded.view(np.float32))


def fused_multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray, target: Type) -> np.ndarray:
    """a * b + c, rounded once: the product of two floats is exact as a double, the sum is rounded to odd."""
    product, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = np.asarray(product + c)
    part = total - product
    error = (product - (total - part)) + (c - part)
    return round_to(_to_odd(total, error, np.uint64), target)


def binary(operator: str, a: np.ndarray, b: np.ndarray, type: Type) -> np.ndarray:
    """`a operator b`, both of the type."""
    if operator in _comparisons:
        return _comparisons[operator](a, b)
    if type.kind == "f":
        result = _simple[operator](a, b)
        return bfloat_of_float(result) if type.scalar == "bfloat" else result
    if operator in ("<<", ">>"):
        amount = b & type.dtype.type(type.bits - 1)
        return np.left_shift(a, amount) if operator == "<<" else np.right_shift(a, amount)
    if operator in ("/", "%"):
        return _divide(operator, a, b, type)
    return _simple[operator](a, b)


_comparisons = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "&&": np.logical_and,
    "||": np.logical_or,
}
_simple = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}


def _divide(operator: str, a: np.ndarray, b: np.ndarray, type: Type) -> np.ndarray:
    """Rounded to zero. What Metal leaves open (a divisor of 0, the smallest number by -1) is here as Metalloid says it
    is, because minimising may come there."""
    one = type.dtype.type(1)
    bad = b == 0
    if type.kind == "i":
        bad = bad | ((a == type.smallest) & (b == -1))
    divisor = np.where(bad, one, b)
    quotient = a // divisor
    if type.kind == "i":  # NumPy rounds down
        quotient = quotient + ((quotient * divisor != a) & ((a < 0) != (divisor < 0))).astype(type.dtype)
    return quotient if operator == "/" else a - quotient * divisor


def bits_of(value: np.ndarray, type: Type) -> np.ndarray:
    """The bits as unsigned integers of the type's size."""
    if type.scalar == "bfloat":
        return (np.ascontiguousarray(value, np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return np.ascontiguousarray(value).view(f"u{type.bits // 8}")


def from_bits(bits: np.ndarray, type: Type) -> np.ndarray:
    if type.scalar == "bfloat":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return np.ascontiguousarray(bits).view(type.dtype)


def exact(value: np.ndarray, type: Type) -> np.ndarray:
    """Integers in which nothing overflows."""
    return np.asarray(value).astype(np.int64 if type.bits <= 16 else object)


def wrapped(value: np.ndarray, type: Type) -> np.ndarray:
    """Exact integers modulo the type's range."""
    value = np.asarray(value) & ((1 << type.bits) - 1)
    return np.asarray(value.astype(f"u{type.bits // 8}")).view(type.dtype)


def saturated(value: np.ndarray, type: Type) -> np.ndarray:
    return np.minimum(np.maximum(value, type.smallest), type.largest).astype(type.dtype)


half, bfloat, single = (type_of(name) for name in ("half", "bfloat", "float"))
