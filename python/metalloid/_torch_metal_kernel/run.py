"""Runs Metal source whose kernel takes MSL tensors and scalars on torch tensors."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch

from .._arguments import device_arrays
from .._arguments.element_types import library_names
from .._shader import Kernel, compile_shader

#: Metal's element type by torch's. Core AI has no 64-bit elements: it narrows them.
metal_types = {
    torch.float32: "float",
    torch.float64: "float",
    torch.float16: "half",
    torch.bfloat16: "bfloat",
    torch.int8: "int8_t",
    torch.int16: "int16_t",
    torch.int32: "int",
    torch.int64: "int",
    torch.uint8: "uint8_t",
    torch.uint16: "uint16_t",
    torch.uint32: "uint",
}

# A pattern of bits for results before the run, by element size: never a number for floats, unlikely for integers.
_poison = {
    torch.float32: (torch.int32, 0x7FE5A5A5),
    torch.float16: (torch.int16, 0x7EA5),
    torch.bfloat16: (torch.int16, 0x7FE5),
    torch.int8: (torch.int8, 0x5A), torch.uint8: (torch.int8, 0x5A), torch.bool: (torch.int8, 0),
    torch.int16: (torch.int16, 0x5A5A), torch.uint16: (torch.int16, 0x5A5A),
    torch.int32: (torch.int32, 0x5A5A5A5A), torch.uint32: (torch.int32, 0x5A5A5A5A),
    torch.int64: (torch.int64, 0x5A5A5A5A5A5A5A5A), torch.uint64: (torch.int64, 0x5A5A5A5A5A5A5A5A),
}  # fmt: skip


def _torch_type(name: str) -> torch.dtype:
    """By the name that reflection has for it."""
    return getattr(torch, library_names()[name])


@functools.lru_cache(maxsize=1024)
def compiled(source: str, name: str) -> Kernel:
    """Raises SyntaxError with the compiler's log."""
    return compile_shader(source, language="metal4.0").get_kernel(name)


def is_unwritten(result: torch.Tensor) -> torch.Tensor:
    """Where a result still holds what it held before the run."""
    bits, pattern = _poison[result.dtype]
    return result.view(bits) == pattern


def _extent(value: int) -> int:
    if not 0 <= value < 2**32:
        raise RuntimeError("value cannot be converted to type uint32 without overflow")
    return value


def _three(extents: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (_extent(int(extent)) for extent in extents)
    return x, y, z


def _narrowed(value: torch.Tensor, wanted: torch.dtype, name: str) -> torch.Tensor:
    if value.dtype == wanted:
        return value
    if (value.dtype, wanted) == (torch.float64, torch.float32):
        return value.to(wanted)
    if (value.dtype, wanted) == (torch.int64, torch.int32):
        if value.numel() and (int(value.min()) < -(2**31) or int(value.max()) >= 2**31):
            raise ValueError(f"int64 input {name!r} has elements outside the 32-bit int range that MSL `int` supports")
        return value.to(wanted)
    raise TypeError(f"kernel input {name!r} has elements of type {value.dtype}, the kernel's are {wanted}")


def run_source(
    source: str,
    name: str,
    inputs: Sequence[torch.Tensor | int | float | bool],
    result_shapes: Sequence[Sequence[int]],
    threads_per_grid: Sequence[int],
    threads_per_thread_group: Sequence[int],
    poison: bool = False,
) -> list[torch.Tensor]:
    """Runs kernel ``name`` of the source, which takes the inputs at buffers 0, 1, ... and then the results.

    Args:
        poison: fill the results before the run with what ``is_unwritten`` finds, instead of zeros.

    Returns:
        The results, with the element types that the kernel declares: on the GPU that the inputs are on, where the kernel
        is launched on PyTorch's current stream, else on the CPU.

    Raises:
        ValueError: tensors on two devices.
    """
    kernel = compiled(source, name)
    place = device_arrays.first_place(inputs)
    device = torch.device("cpu") if place is None else torch.device("cuda", place[1])
    if place is not None:
        device_arrays.check_places(place, inputs, lambda index: f"kernel {name!r}: input {index}")
    arguments = {argument["index"]: argument for argument in kernel.arguments}
    tensors = []  # kept alive during the run
    bindings: list[tuple[int, bytes | tuple[int, int] | tuple[int, int, list[int]]]] = []

    def bind(tensor: torch.Tensor) -> None:
        index = len(bindings)
        tensors.append(tensor)
        size = tensor.numel() * tensor.element_size()
        if arguments[index]["kind"] == "tensor":
            extents = [int(extent) for extent in reversed(tensor.shape)]
            bindings.append((index, (tensor.data_ptr(), size, extents)))
        else:
            bindings.append((index, (tensor.data_ptr(), size)))

    for value in inputs:
        argument = arguments[len(bindings)]
        wanted = _torch_type(argument["scalar"])
        if isinstance(value, torch.Tensor):
            value = value.detach().to(device)
            bind(_narrowed(value, wanted, argument["name"]).contiguous())
        elif place is not None:
            number = torch.tensor([value], dtype=wanted).view(torch.uint8)
            bindings.append((len(bindings), bytes(number.tolist())))
        else:
            bind(torch.tensor(value, dtype=wanted))
    results = []
    for shape in result_shapes:
        dtype = _torch_type(arguments[len(bindings)]["scalar"])
        result = torch.zeros([_extent(int(extent)) for extent in shape], dtype=dtype, device=device)
        if poison:
            bits, pattern = _poison[dtype]
            result.view(bits).fill_(pattern)
        results.append(result)
        bind(result)
    if any(result.numel() for result in results):
        grid, group = _three(threads_per_grid), _three(threads_per_thread_group)
        if place is None:
            kernel._kernel.run(bindings, grid, group, {}, None)
        else:
            stream = device_arrays.stream_for(place, True, ())
            kernel._compiled_for(device_arrays.device_at(place)).run_on(stream, bindings, grid, group, {}, None)
    return results
