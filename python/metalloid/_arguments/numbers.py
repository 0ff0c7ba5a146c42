"""Numbers that callers give: Python's, NumPy's scalars, and arrays and tensors of one element without dimensions."""

from __future__ import annotations

import operator
from typing import Any


def number(value: Any) -> bool | int | float | None:
    """Python's number for what stands for one; None for everything else."""
    kind = type(value)
    if kind is int or kind is float or kind is bool:
        return value
    if isinstance(value, int):  # an enumeration's member
        return int(value)
    if isinstance(value, float):  # numpy.float64
        return float(value)
    if isinstance(value, (str, bytes, bytearray, complex, list, tuple, dict, set)):
        return None
    if hasattr(value, "item"):
        dimensions = getattr(value, "ndim", None)
        if type(dimensions) is not int or dimensions != 0:
            return None
        value = value.item()
        if isinstance(value, (bool, int, float)):
            return value
    try:
        return operator.index(value)
    except TypeError:
        pass
    if isinstance(value, (str, bytes, complex)) or not hasattr(value, "__float__"):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def integer(what: str, value: Any, lowest: int, highest: int) -> int:
    """An int between bounds, in words if it is none. `what` is the parameter, as the caller calls it."""
    found = number(value)
    if found is None or isinstance(found, (bool, float)):
        raise TypeError(f"{what} must be an int, not {described(value)}")
    if not lowest <= found <= highest:
        raise ValueError(f"{what} must lie between {_power(lowest)} and {_power(highest)}, not {found}")
    return found


def real(what: str, value: Any) -> float:
    """A float, in words if it is none: ValueError for text, as float() has it."""
    found = number(value)
    if found is None or isinstance(found, bool):
        raise (ValueError if isinstance(value, str) else TypeError)(f"{what} must be a number, not {described(value)}")
    try:
        return float(found)
    except OverflowError:
        raise ValueError(f"{what} is too large: {found}") from None


def flag(what: str, value: Any) -> bool:
    """A bool, NumPy's too, in words if it is none."""
    found = number(value)
    if not isinstance(found, bool):
        raise TypeError(f"{what} must be bool, not {described(value)}")
    return found


def text(what: str, value: Any) -> str:
    """A str that can be encoded.

    Raises:
        UnicodeEncodeError: it holds halves of surrogate pairs.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} must be str, not {type(value).__name__}")
    value.encode()
    return value


def described(value: Any) -> str:
    """What a message shows of a value: its type where its text would be long."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:50]}... ({type(value).__name__})"


def _power(bound: int) -> str:
    for bits in (31, 32, 63, 64):
        if bound == (1 << bits) - 1:
            return f"2^{bits} - 1"
        if bound == -(1 << bits):
            return f"-2^{bits}"
    return str(bound)
