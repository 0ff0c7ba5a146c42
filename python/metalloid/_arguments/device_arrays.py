"""Arrays in the memory of a device: PyTorch's on a GPU, CuPy's, and all that speak DLPack or CUDA's array interface.

A call that has one runs there, on the stream that the array's library uses at this moment, and does not wait. Nothing here
imports a library of arrays.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import _core
from .numbers import described
from .tensors import is_tensor

# DLPack's kind and number of a device.
Place = tuple[int, int]

_cuda = 2
_extension = 12
# Of memory that the host does not reach and devices here may have, by DLPack's numbers.
_kinds_of_devices = (_cuda, _extension)


@dataclasses.dataclass(frozen=True, slots=True)
class DeviceArray:
    """An array's memory, with the names that HostArray has."""

    address: int
    bytes: int
    count: int
    item_bytes: int
    kind: str
    writable: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # elements
    stream: int | None  # by which its elements are there; None: nobody has to wait
    owner: Any

    @property
    def dtype(self) -> str:
        return self.kind if self.kind == "bool" else f"{self.kind}{8 * self.item_bytes}"


def _nowhere(value: Any) -> Place | None:
    return None


def _place_by_dlpack(value: Any) -> Place | None:
    kind, number = value.__dlpack_device__()
    return (int(kind), int(number)) if int(kind) in _kinds_of_devices else None


def _place_by_interface(value: Any) -> Place | None:
    """CUDA's array interface does not say on which GPU; libraries' own attribute does."""
    device = getattr(value, "device", None)
    number = getattr(device, "id", None)
    return _cuda, number if isinstance(number, int) else 0


def _place_of_tensor(tensor: Any) -> Place | None:
    return (_cuda, tensor.get_device()) if tensor.is_cuda else None


# By type: how to ask. Types whose arrays are the host's, or that are no arrays, are asked once.
_asks: dict[type, Callable[[Any], Place | None]] = dict.fromkeys(
    (int, float, bool, bytes, str, list, tuple, dict, type(None)), _nowhere
)


# Those among them that are PyTorch's.
tensor_types: set[type] = set()


def _ask(value: Any) -> Callable[[Any], Place | None]:
    kind = type(value)
    ask: Callable[[Any], Place | None]
    if is_tensor(value):
        if len(tensor_types) < 1024:
            tensor_types.add(kind)
        ask = _place_of_tensor
    elif kind.__module__ == "numpy":
        ask = _nowhere
    elif hasattr(value, "__dlpack_device__"):
        ask = _place_by_dlpack
    elif hasattr(kind, "__cuda_array_interface__"):
        ask = _place_by_interface
    else:
        ask = _nowhere
    if len(_asks) < 1024:
        _asks[kind] = ask
    return ask


def place_of(value: Any) -> Place | None:
    """Which device has the array; None for arrays of the host and all that is none."""
    kind = type(value)
    if kind is list or kind is tuple:  # of tensors
        return place_of(value[0]) if value and is_tensor(value[0]) else None
    return (_asks.get(kind) or _ask(value))(value)


def first_place(values: Iterable[Any]) -> Place | None:
    """Where a call on these arguments runs; None: where it is told."""
    for value in values:
        place = place_of(value)
        if place is not None:
            return place
    return None


def name_of(place: Place) -> str:
    """As PyTorch calls it: "cuda:0"."""
    kind, number = place
    return f"cuda:{number}" if kind == _cuda else device_at(place)


_devices: dict[Place, str] = {}


def device_at(place: Place) -> str:
    """The name of Metalloid's device.

    Raises:
        metalloid.Error: there is none; the text says why.
    """
    device = _devices.get(place)
    if device is None:
        device = _devices[place] = _core.device_of_arrays(*place)
    return device


def check_places(place: Place, values: Sequence[Any], what: Callable[[int], str]) -> None:
    """Raises ValueError if a call has arrays of two devices, or a tensor of the host with dimensions beside one of a
    device's.

    Args:
        what: names the argument in messages.
    """
    first = next(i for i, value in enumerate(values) if place_of(value) == place)
    for i, value in enumerate(values):
        other = place_of(value)
        if other is None and not (is_tensor(value) and value.dim() != 0) or other == place:
            continue
        there = "in the host's memory" if other is None else f"on {name_of(other)}"
        raise ValueError(
            f"{what(first)} is on {name_of(place)} and {what(i)} is {there}: a kernel runs on one device; "
            f".to() moves a tensor"
        )


def require_device(place: Place, chosen: str | None) -> str:
    """The name of the device to run on, which nobody has chosen or which is the chosen one.

    Raises:
        ValueError: another one was chosen.
    """
    device = device_at(place)
    if chosen is not None and chosen != device:
        raise ValueError(
            f"the kernel was made for device {chosen!r}, and its arguments are on {name_of(place)}: leave the device out, "
            f"or give {device!r}"
        )
    return device


# Streams

_streams: dict[tuple[Place, int], _core.Stream] = {}
_current_of_torch: Callable[[int], int] | None = None


def _stream_of_torch(number: int) -> int:
    """The handle of PyTorch's current stream."""
    global _current_of_torch
    if _current_of_torch is None:
        _current_of_torch = sys.modules["torch"]._C._cuda_getCurrentRawStream
    return _current_of_torch(number)


def stream_at(place: Place, handle: int) -> _core.Stream:
    stream = _streams.get((place, handle))
    if stream is None:
        stream = _streams[place, handle] = _core.Stream(device_at(place), handle)
    return stream


def stream_for(place: Place, has_tensor: bool, arrays: Sequence[DeviceArray]) -> _core.Stream:
    """The stream that a call joins: PyTorch's current one if it has a tensor, else the first array's."""
    if not arrays:
        return stream_at(place, _stream_of_torch(place[1]))
    handles = [handle for array in arrays if (handle := array.stream) is not None]
    if has_tensor:
        own = _stream_of_torch(place[1])
    else:
        own = handles[0] if handles else 0
    stream = stream_at(place, own)
    for handle in handles:
        if handle != own:
            stream.wait_for(handle)
    return stream


def synchronize_streams() -> None:
    """Waits for what was given to streams of other libraries. Raises the first error of a kernel on one of them."""
    for stream in list(_streams.values()):
        stream.synchronize()


# Arrays

_kinds = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def device_array(value: Any) -> DeviceArray:
    """Of an array that is no tensor of PyTorch's.

    Raises:
        TypeError, ValueError: what it says of itself cannot be.
    """
    interface = getattr(value, "__cuda_array_interface__", None)
    return _by_dlpack(value) if interface is None else _by_interface(value, interface)


def _by_interface(value: Any, interface: dict[str, Any]) -> DeviceArray:
    shape = tuple(interface["shape"])
    typestr = interface["typestr"]
    address, is_read_only = interface["data"]
    if interface.get("mask") is not None:
        raise ValueError(f"an array with a mask is no memory that a kernel could take: {described(type(value))}")
    if typestr[0] == ">":
        raise ValueError("array is not in this machine's byte order")
    item = int(typestr[2:])
    given = interface.get("strides")
    if given is None:
        strides = _strides_of(shape)
    elif any(stride % item for stride in given):
        raise ValueError("array strides are not whole elements")
    else:
        strides = tuple(stride // item for stride in given)
    count = _count_of(shape)
    stream = interface.get("stream")
    if stream == 0:
        raise ValueError("stream 0 of __cuda_array_interface__ is ambiguous; 1 and 2 are CUDA's default streams")
    # 1 is the default stream, as 0 is to the driver.
    return DeviceArray(
        address or 0, count * item, count, item, _kinds.get(typestr[1], "other"), not is_read_only, shape, strides,
        0 if stream == 1 else stream, value,
    )  # fmt: skip


def _by_dlpack(value: Any) -> DeviceArray:
    # The default stream, which the kernel joins, waits for the elements.
    try:
        memory = _core.DLPackMemory(value.__dlpack__(stream=1))
    except TypeError:  # its library has no streams
        memory = _core.DLPackMemory(value.__dlpack__())
    return DeviceArray(
        memory.address, memory.count * memory.item_bytes, memory.count, memory.item_bytes, memory.kind, memory.writable,
        tuple(memory.shape), tuple(memory.strides), 0, memory,
    )  # fmt: skip


def _count_of(shape: Sequence[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def is_contiguous(array: DeviceArray) -> bool:
    return array.count == 0 or all(
        extent == 1 or stride == expected
        for extent, stride, expected in zip(array.shape, array.strides, _strides_of(array.shape), strict=True)
    )
