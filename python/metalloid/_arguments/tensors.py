"""torch tensors as kernel arguments, by the rules of torch.mps.compile_shader.

A tensor is its memory from its first element to the end of its storage: shape and strides stay with the host. Nothing
here imports torch; a program that has no tensors does not pay for it.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .element_types import check_pointee
from .policy import ArgumentPolicy

# Memory by address and length in bytes.
Memory = tuple[int, int]
# Addresses, 8 bytes each, and the memory that they lead to.
AddressTable = tuple[bytes, list[Memory]]


def is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def memory_of(tensor: Any) -> Memory:
    """A view is base plus offset: the memory reaches to the end of what the view's base has."""
    if tensor.is_sparse or tensor.layout is not sys.modules["torch"].strided:
        raise RuntimeError(f"a kernel argument must be a strided tensor, not {tensor.layout}")
    if tensor.is_quantized or tensor.is_nested:
        raise RuntimeError("a kernel argument must not be a quantized or nested tensor")
    if tensor.is_conj() or tensor.is_neg():
        raise RuntimeError("a kernel sees a tensor's memory, not its conjugate or negative: resolve_conj(), resolve_neg()")
    offset = tensor.storage_offset() * tensor.element_size()
    storage = tensor.untyped_storage()
    address = storage.data_ptr()
    if address == 0 and storage.nbytes() != 0:
        raise RuntimeError(f"a kernel argument must be a tensor with memory, not a {type(tensor).__name__}")
    return address + offset, storage.nbytes() - offset


def _narrowed(tensor: Any) -> bytes:
    """A 0-dimensional host tensor's bytes; Metal has no float64, so that becomes float32."""
    torch = sys.modules["torch"]
    value = tensor.detach()
    if value.dtype is torch.float64:
        value = value.to(torch.float32)
    elif value.dtype is torch.complex128:
        value = value.to(torch.complex64)
    return bytes(value.reshape(1).view(torch.uint8).tolist())


def reject_float64(tensor: Any) -> None:
    torch = sys.modules["torch"]
    if tensor.dtype in (torch.float64, torch.complex128):
        raise TypeError(
            "Cannot convert a float64 Tensor to MPS as the MPS framework doesn't support float64. "
            "Please use float32 instead."
        )


def encode_tensor(tensor: Any, policy: ArgumentPolicy) -> Memory | bytes:
    """One tensor's memory, or its bytes if it goes by value."""
    torch = sys.modules["torch"]
    if not policy.is_device_memory(tensor):
        if tensor.dim() != 0:
            raise RuntimeError("Passed CPU tensor to MPS op")
        return _narrowed(tensor)
    if tensor.dim() == 0 and tensor.dtype in (torch.float64, torch.complex128):
        return _narrowed(tensor)
    reject_float64(tensor)
    return memory_of(tensor)


def elements_of(tensor: Any, binding: Memory | bytes) -> Any:
    """The dtype of what encode_tensor made of a tensor."""
    torch = sys.modules["torch"]
    narrowed = {torch.float64: torch.float32, torch.complex128: torch.complex64} if isinstance(binding, bytes) else {}
    return narrowed.get(tensor.dtype, tensor.dtype)


def encode_tensor_list(
    tensors: Sequence[Any], policy: ArgumentPolicy, argument: Mapping[str, Any] | None = None
) -> AddressTable:
    """The tensors' addresses: an argument buffer such as ``metal::array<device float*, N>``."""
    memories: list[Memory] = []
    for tensor in tensors:
        if not is_tensor(tensor):
            raise RuntimeError("Unexpected argument types")
        if tensor.is_cuda != tensors[0].is_cuda or tensor.is_cuda and tensor.device != tensors[0].device:
            raise ValueError("a list of tensors as an argument has tensors on two devices")
        if not tensor.is_cuda and not policy.is_device_memory(tensor):
            raise RuntimeError("Passed CPU tensor to MPS op")
        reject_float64(tensor)
        check_pointee(argument, len(memories), tensor.dtype)
        memories.append(memory_of(tensor))
    return struct.pack(f"<{len(memories)}Q", *(address for address, _ in memories)), memories
