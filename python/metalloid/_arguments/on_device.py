"""A call's arguments where some are in a device's memory: what is bound at each index, and the stream that the call joins.

A launch takes some microseconds, and so does this: what was checked of an argument once, by its type of elements, is not
asked again.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _core
from . import device_arrays
from .element_types import check_format, describe, kind_of
from .encoding import check_array, check_no_overlap, encode
from .policy import ArgumentPolicy
from .tensors import encode_tensor_list, is_tensor, memory_of, reject_float64

# Index, and the dtype of a tensor or the type of a number, that are what the kernel takes.
Known = set[tuple[int, Any]]

_pack_float, _pack_int = struct.Struct("<f").pack, struct.Struct("<q").pack


def bind_on_device(
    place: device_arrays.Place,
    args: Sequence[Any],
    casts: str | Mapping[int, str] | None,
    arguments: Mapping[int, Mapping[str, Any]],
    known: Known,
    policy: ArgumentPolicy,
) -> tuple[_core.Stream, list[tuple[int, Any]], int | None]:
    """What is bound, and the number of elements of the first array or tensor.

    Args:
        arguments: the kernel's, by index.
        known: what earlier calls found to be right; what this one finds is added.

    Raises:
        TypeError, ValueError, RuntimeError: as ``encode`` has it, and for arguments in the memory of two devices.
    """
    bindings: list[tuple[int, Any]] = []
    elements: int | None = None
    arrays: list[device_arrays.DeviceArray] = []
    has_tensor = False
    number = place[1]
    for index, value in enumerate(args):
        kind = type(value)
        if kind in device_arrays.tensor_types:
            if (index, value.dtype) in known and value.is_cuda and value.get_device() == number:
                size = value.untyped_storage().nbytes() - value.storage_offset() * value.element_size()
                count = value.numel()
                # What is unusual goes the long way.
                if size >= count * value.element_size() and not value.is_neg() and not value.is_nested and count != 0:
                    has_tensor = True
                    bindings.append((index, (value.data_ptr(), size)))
                    if elements is None:
                        elements = count
                    continue
        elif casts is None and (index, kind) in known:
            try:
                bindings.append((index, _pack_float(value) if kind is float else _pack_int(value)))
                continue
            except (OverflowError, struct.error):
                pass
        argument = arguments.get(index)
        there = device_arrays.place_of(value)
        shown: int | None = None
        if there != place:
            if there is not None or (is_tensor(value) and value.dim() != 0):
                device_arrays.check_places(place, args, lambda i: _described(i, arguments))
            cast = casts if casts is None or isinstance(casts, str) else casts.get(index)
            binding: Any = encode(value, cast, argument, policy)
            if is_tensor(value):
                shown = value.numel()
            elif isinstance(binding, _core.HostArray):
                shown = binding.count
            elif argument is not None and _takes(argument, kind):
                known.add((index, kind))
        elif is_tensor(value) or isinstance(value, (list, tuple)):
            has_tensor = True
            binding = _encode_tensor(index, value, argument, known, policy)
            shown = value.numel() if is_tensor(value) else None
        else:
            array, binding = _encode_array(value, argument)
            arrays.append(array)
            shown = array.count
        if elements is None:
            elements = shown
        if argument is not None or policy.checks_types:
            bindings.append((index, binding))
    return device_arrays.stream_for(place, has_tensor, arrays), bindings, elements


def _takes(argument: Mapping[str, Any], kind: type) -> bool:
    """Whether all numbers of that type go over as they are."""
    scalar = argument["scalar"]
    return kind is float and scalar == "f32" or kind is int and scalar != "" and kind_of(scalar) in ("int", "uint")


def _described(index: int, arguments: Mapping[int, Mapping[str, Any]]) -> str:
    argument = arguments.get(index)
    return describe(argument) if argument else f"argument {index}"


def _encode_tensor(
    index: int, value: Any, argument: Mapping[str, Any] | None, known: Known, policy: ArgumentPolicy
) -> tuple[int, int] | tuple[bytes, list[tuple[int, int]]]:
    """A tensor, or a list of them."""
    if isinstance(value, (list, tuple)):
        return encode_tensor_list(value, policy, argument)
    memory = memory_of(value)
    reject_float64(value)
    if argument is None:
        return memory
    check_format(argument, value.dtype, "tensor")
    if argument["writable"]:
        check_no_overlap(argument, value, memory)
    if not value.is_complex():  # which may stand for its conjugate
        known.add((index, value.dtype))
    return memory


def _encode_array(
    value: Any, argument: Mapping[str, Any] | None
) -> tuple[device_arrays.DeviceArray, tuple[int, int]]:
    """An array of another library."""
    array = device_arrays.device_array(value)
    if not device_arrays.is_contiguous(array):
        raise ValueError(
            f"{describe(argument) if argument else 'array'}: it is not C-contiguous, and a kernel sees memory, not strides"
        )
    check_array(argument, array)
    return array, (array.address, array.bytes)
