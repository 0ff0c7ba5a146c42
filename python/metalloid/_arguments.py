"""Encodes Python values as kernel arguments, by the rules of torch.mps.compile_shader.

An int is an int64, a float a float32, a list or tuple an array of one or the other. Arrays are bound in place.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from . import _core

# arg_casts: struct format of one element and the Python type that it takes.
_casts = {"fp16": ("e", float), "int32": ("i", int), "int16": ("h", int), "int8": ("b", int), "uint8": ("B", int)}

_array_kinds = {
    "bool": "bool",
    "i8": "int", "i16": "int", "i32": "int", "i64": "int",
    "u8": "uint", "u16": "uint", "u32": "uint", "u64": "uint",
    "f16": "float", "f32": "float", "bf16": "bfloat",
}  # fmt: skip


def _bfloat16(value: float) -> int:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return 0x7FC0
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _pack(values: list[Any], cast: str | None, is_float: bool) -> bytes:
    if cast == "bf16":
        return struct.pack(f"<{len(values)}H", *(_bfloat16(float(value)) for value in values))
    if cast is not None:
        if cast not in _casts:
            raise RuntimeError(f"Unsupported cast instruction {cast}")
        code, convert = _casts[cast]
        if convert is int:  # wraps, as a conversion in C does
            bits = struct.calcsize(code) * 8
            integers = [int(value) & ((1 << bits) - 1) for value in values]
            return struct.pack(f"<{len(values)}{code.upper()}", *integers)
        return struct.pack(f"<{len(values)}{code}", *(float(value) for value in values))
    if is_float:
        return struct.pack(f"<{len(values)}f", *(float(value) for value in values))
    return struct.pack(f"<{len(values)}q", *(int(value) for value in values))


def _describe(argument: Mapping[str, Any]) -> str:
    return f"argument '{argument['name']}' at buffer({argument['index']}), {argument['type']}"


def _check_number(argument: Mapping[str, Any] | None, is_float: bool, cast: str | None) -> None:
    """A float's bits read as an integer, or the reverse, are never what was meant."""
    if argument is None or cast is not None or argument["scalar"] == "":
        return
    wants = argument["scalar"]
    if is_float and wants != "f32":
        raise TypeError(f"{_describe(argument)}: a Python float is bound as float32 (arg_casts converts)")
    if not is_float and _array_kinds[wants] in ("float", "bfloat"):
        raise TypeError(f"{_describe(argument)}: a Python int is bound as int64; give a float")


def _check_array(argument: Mapping[str, Any] | None, array: _core.HostArray) -> None:
    if array.kind == "float" and array.item_bytes == 8:
        raise TypeError(
            "Cannot bind a float64 array, as Metal doesn't support float64. Please use float32 instead."
        )
    if argument is None:
        return
    if argument["writable"] and not array.writable:
        raise ValueError(f"{_describe(argument)}: the kernel may write to it and the array is read-only")
    wants, kind, size = argument["scalar"], array.kind, array.item_bytes
    if wants == "" or kind == "other" or (kind == "uint" and size == 1):
        return  # structs, void and raw bytes: the kernel's business
    wanted_kind = _array_kinds[wants]
    if kind == "complex":  # a vector of two elements
        kind, size = "float", size // 2
    integers = {"int", "uint"}
    if wanted_kind == "bfloat" and kind in integers and size == 2:
        return  # bfloat16 as NumPy users keep it
    if size != argument["item_bytes"] or (kind != wanted_kind and not {kind, wanted_kind} <= integers):
        raise TypeError(f"{_describe(argument)}: its elements are {wants}, the array's are {kind}{size * 8}")


def encode(value: Any, cast: str | None, argument: Mapping[str, Any] | None) -> _core.HostArray | bytes:
    """One argument's memory or bytes. `argument` is the kernel's reflection of it, None if it has none there."""
    if isinstance(value, float):
        _check_number(argument, True, cast)
        return _pack([value], cast, True)
    if isinstance(value, int):
        _check_number(argument, False, cast)
        if argument is not None and argument["scalar"] == "u64" and cast is None and value >= 1 << 63:
            return struct.pack("<Q", value)
        return _pack([value], cast, False)
    if isinstance(value, (list, tuple)):
        if not value:
            raise RuntimeError("Empty list/tuple can not be an argument to metal kernel")
        if not isinstance(value[0], (int, float)):
            raise RuntimeError("Unexpected argument types")
        is_float = isinstance(value[0], float)
        _check_number(argument, is_float, cast)
        return _pack(list(value), cast, is_float)
    if value is None or isinstance(value, (str, complex, dict, set)):
        raise RuntimeError("Unsupported argument type")
    try:
        array = _core.HostArray(value)
    except TypeError:
        raise RuntimeError("Unsupported argument type") from None
    if array.dimensions == 0 and array.kind == "float" and array.item_bytes == 8:
        return _pack([float(value)], None, True)  # float64 scalars are narrowed
    if array.dimensions == 0 and not array.writable:
        _check_array({**argument, "writable": False} if argument else None, array)
        return array.contents()  # a NumPy scalar, by value
    _check_array(argument, array)
    return array
