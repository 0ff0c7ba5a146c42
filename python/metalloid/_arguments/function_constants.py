"""Values for function constants, as callers give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .numbers import described, number

_bits = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64}


def checked_constants(
    values: Mapping[int | str, Any], declared: Sequence[Mapping[str, Any]]
) -> dict[int, Any]:
    """Values by index as _core takes them: the bits of an integer beyond int64 as an int64.

    Args:
        values: by name or index.
        declared: what the library declares: name, index, type, scalar, rows.

    Raises:
        TypeError: a key or a value of another kind.
        ValueError: a key that the library does not declare, two for one constant, a value that the type does not have.
    """
    return {
        constant["index"]: _value(constant, values[original]) for original, constant in _declared(values, declared)
    }


def _declared(values: Mapping[int | str, Any], declared: Sequence[Mapping[str, Any]]) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    for original in values:
        key = original if isinstance(original, str) else number(original)
        if isinstance(key, bool) or not isinstance(key, (str, int)):
            raise TypeError(f"a function constant is named by a str or an index, not {described(original)}")
        word = "name" if isinstance(key, str) else "index"
        constants = [constant for constant in declared if constant[word] == key]
        if not constants:
            known = ", ".join(f"'{constant['name']}' (index {constant['index']})" for constant in declared)
            raise ValueError(
                f"no function constant {'is named' if word == 'name' else 'has index'} {key!r}; the library has "
                f"{known or 'none'}"
            )
        for other, constant in found:
            if constant is constants[0]:
                raise ValueError(
                    f"function constant '{constant['name']}' (index {constant['index']}) is given twice, as {other!r} and "
                    f"{original!r}"
                )
        found.append((original, constants[0]))
    return found


def _value(constant: Mapping[str, Any], value: Any) -> Any:
    what = f"function constant '{constant['name']}' (index {constant['index']}) of type {constant['type']}"
    plain = number(value)
    if plain is not None:
        return _element(what, constant["scalar"], plain)
    if hasattr(value, "tolist"):  # an array or a tensor
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{what} takes a bool, an int, a float, or a sequence of them, not {described(value)}")
    elements = [number(element) for element in value]
    if not elements or None in elements:
        raise TypeError(f"{what} takes a bool, an int, a float, or a sequence of them, not {described(value)}")
    converted = [_element(what, constant["scalar"], element) for element in elements]
    if any(isinstance(element, float) for element in converted):
        return [float(element) for element in converted]
    return [int(element) for element in converted]


def _element(what: str, scalar: str, value: Any) -> bool | int | float:
    if isinstance(value, (bool, float)):
        return value
    if scalar not in _bits:
        try:
            return float(value) if scalar in ("f16", "bf16", "f32") else int(bool(value))
        except OverflowError:
            raise ValueError(f"{what} cannot hold {described(value)}") from None
    bits = _bits[scalar]
    if not -(1 << bits - 1) <= value < 1 << bits:  # either reading of the bits
        raise ValueError(f"{what} cannot hold {described(value)}")
    return value - (1 << 64) if value >= 1 << 63 else value
