"""Encodes Python values as kernel arguments, by the rules of torch.mps.compile_shader.

An int is an int64, a float a float32, a list or tuple an array of one or the other. Arrays and tensors are bound in
place. What is an array or a tensor of the device is the policy's business.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Mapping
from typing import Any

from .. import _core
from .device_arrays import DeviceArray
from .element_types import check_format, describe, kind_of
from .numbers import described, number
from .policy import ArgumentPolicy, arrays_in_place
from .tensors import (
    AddressTable,
    Memory,
    elements_of,
    encode_tensor,
    encode_tensor_list,
    is_tensor,
)

# arg_casts: struct format of one element and the Python type that it takes.
_casts = {"fp16": ("e", float), "int32": ("i", int), "int16": ("h", int), "int8": ("b", int), "uint8": ("B", int)}


def _bfloat16(value: float) -> int:
    bits = struct.unpack("<I", _floats([value], "f"))[0]
    if value != value:
        return 0x7FC0
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _floats(values: list[Any], code: str) -> bytes:
    converted = [float(value) for value in values]
    try:
        return struct.pack(f"<{len(values)}{code}", *converted)
    except OverflowError:  # too large for the type: infinity, as a conversion in C
        largest = 65504.0 if code == "e" else 3.4028234663852886e38
        clipped = [value if abs(value) <= largest else math.copysign(math.inf, value) for value in converted]
        clipped = [value if value == value else math.nan for value in clipped]
        return struct.pack(f"<{len(values)}{code}", *clipped)


def _integer(value: Any) -> int:
    if isinstance(value, int):
        return value
    if not hasattr(value, "__index__"):
        raise RuntimeError(f"a list or tuple whose first element is an int must hold ints, not {type(value).__name__}")
    return operator.index(value)


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
        return _floats(values, code)
    if is_float:
        return _floats(values, "f")
    try:
        return struct.pack(f"<{len(values)}q", *(_integer(value) for value in values))
    except struct.error:
        raise RuntimeError("an int argument is bound as int64 and must lie between -2^63 and 2^63 - 1") from None


def _check_number(given: Any, argument: Mapping[str, Any] | None, is_float: bool, cast: str | None) -> None:
    """A float's bits read as an integer, or the reverse, are never what was meant. `given` is the caller's value."""
    if argument is None or cast is not None or argument["scalar"] == "":
        return
    wants = argument["scalar"]
    if is_float and wants != "f32":
        raise TypeError(f"{describe(argument)}: {described(given)} is bound as float32 (arg_casts converts)")
    if not is_float and kind_of(wants) in ("float", "bfloat"):
        raise TypeError(f"{describe(argument)}: {described(given)} is bound as int64; give a float")


def check_array(argument: Mapping[str, Any] | None, array: _core.HostArray | DeviceArray) -> None:
    if array.kind == "float" and array.item_bytes == 8:
        raise TypeError(
            "Cannot bind a float64 array, as Metal doesn't support float64. Please use float32 instead."
        )
    if argument is None:
        return
    if argument["writable"] and not array.writable:
        raise ValueError(f"{describe(argument)}: the kernel may write to it and the array is read-only")
    wants, kind, size = argument["scalar"], array.kind, array.item_bytes
    if wants == "" or kind == "other" or (kind == "uint" and size == 1):
        return  # structs, void and raw bytes: the kernel's business
    wanted_kind = kind_of(wants)
    if kind == "complex":  # a vector of two elements
        kind, size = "float", size // 2
    integers = {"int", "uint"}
    if wanted_kind == "bfloat" and kind in integers and size == 2:
        return  # bfloat16 as NumPy users keep it
    if size != argument["item_bytes"] or (kind != wanted_kind and not {kind, wanted_kind} <= integers):
        raise TypeError(
            f"{describe(argument)}: its elements are {wants}, the array's are {kind}{size * 8}. .astype() converts "
            "them; .view() of the dtype that the kernel takes says that the same memory is meant"
        )


def check_no_overlap(argument: Mapping[str, Any], tensor: Any, memory: Memory) -> None:
    """An expanded tensor has fewer elements in memory than it shows: writing them all would go beyond its end."""
    if 0 < memory[1] < tensor.numel() * tensor.element_size():
        raise ValueError(
            f"{describe(argument)}: the kernel may write to it and its elements overlap in memory (expand); "
            "call .contiguous()"
        )


def _unsupported(value: Any, argument: Mapping[str, Any] | None) -> str:
    """torch's words, and what they leave out."""
    place = f"{describe(argument)}: " if argument else ""
    return f"Unsupported argument type\n{place}a tensor, an array, a number or a list of them, not {described(value)}"


def _whole_vector(data: bytes, argument: Mapping[str, Any] | None) -> bytes:
    """Three elements for a `constant float3&` lack the padding that the type has in memory."""
    if argument and argument["rows"] == 3 and len(data) == 3 * argument["item_bytes"] < argument["bytes"]:
        return data + bytes(argument["bytes"] - len(data))
    return data


def _encode_list(
    values: list[Any], cast: str | None, argument: Mapping[str, Any] | None, policy: ArgumentPolicy
) -> bytes | AddressTable:
    if not values:
        raise RuntimeError("Empty list/tuple can not be an argument to metal kernel")
    if is_tensor(values[0]):
        return encode_tensor_list(values, policy, argument)
    given = values
    if policy.accepts_arrays:  # and with them NumPy's scalars
        values = [value if (plain := number(value)) is None else plain for value in values]
    if not isinstance(values[0], (int, float)):
        raise RuntimeError("Unexpected argument types")
    is_float = isinstance(values[0], float)
    if policy.checks_types:
        _check_number(given, argument, is_float, cast)
    return _whole_vector(_pack(values, cast, is_float), argument)


def encode(
    value: Any,
    cast: str | None,
    argument: Mapping[str, Any] | None,
    policy: ArgumentPolicy = arrays_in_place,
) -> _core.HostArray | bytes | Memory | AddressTable:
    """One argument's memory or bytes. `argument` is the kernel's reflection of it, None if it has none there."""
    if is_tensor(value):
        binding = encode_tensor(value, policy)
        check_format(argument, elements_of(value, binding), "tensor")
        if argument is not None and argument["writable"] and isinstance(binding, tuple):
            check_no_overlap(argument, value, binding)
        return binding
    if isinstance(value, (float, int)):
        return _encode_number(value, value, cast, argument, policy)
    if isinstance(value, (list, tuple)):
        return _encode_list(list(value), cast, argument, policy)
    if not policy.accepts_arrays or value is None or isinstance(value, (str, complex, dict, set)):
        raise RuntimeError(_unsupported(value, argument))
    return _encode_array(value, cast, argument, policy)


def _encode_number(
    value: float, given: Any, cast: str | None, argument: Mapping[str, Any] | None, policy: ArgumentPolicy
) -> bytes:
    is_float = isinstance(value, float)
    if policy.checks_types:
        _check_number(given, argument, is_float, cast)
    if not is_float and cast is None and value >= 1 << 63 and argument is not None and argument["scalar"] == "u64":
        if value >= 1 << 64:
            raise RuntimeError(f"{describe(argument)}: the int does not fit 64 bits")
        return struct.pack("<Q", value)
    return _pack([value], cast, is_float)


def _encode_array(
    value: Any, cast: str | None, argument: Mapping[str, Any] | None, policy: ArgumentPolicy
) -> _core.HostArray | bytes:
    try:
        array = _core.HostArray(value)
    except TypeError as error:
        plain = number(value)
        if plain is not None:  # a scalar that does not show its memory, such as ml_dtypes.bfloat16
            return _encode_number(plain, value, cast, argument, policy)
        known = "Unsupported argument type"
        raise RuntimeError(_unsupported(value, argument) if str(error) == known else f"{known}: {error}") from None
    if array.dimensions != 0 or array.writable and not (array.kind == "float" and array.item_bytes == 8):
        check_array(argument, array)
        return array
    # A NumPy scalar, by value: its own bytes where those are what the kernel takes, else the number.
    is_narrowed = array.kind == "float" and array.item_bytes == 8
    has_its_width = argument is None or argument["scalar"] == "" or argument["item_bytes"] == array.item_bytes
    if cast is None and has_its_width and not is_narrowed:
        try:
            check_array({**argument, "writable": False} if argument else None, array)
        except TypeError:
            pass
        else:
            return array.contents()
    plain = number(value)
    if plain is None:
        raise RuntimeError(_unsupported(value, argument))
    return _encode_number(plain, value, cast, argument, policy)
