"""Which tensors are on "mps", and how much memory they take.

The mark is on a tensor's storage, so views, gradients' aliases and tensors that autograd saved share it. torch keeps a
storage's Python object alive as long as the storage, and so its mark.
"""

from __future__ import annotations

from typing import Any

import torch

_mark = "_metalloid_is_on_mps"
_plain = (torch.Tensor, torch.nn.Parameter)
_allocated: dict[int, int] = {}  # by the mark's id, in bytes


class _Allocation:
    """The mark itself; it goes when the storage goes."""

    __slots__ = ()

    def __init__(self, storage: torch.UntypedStorage) -> None:
        _allocated[id(self)] = storage.nbytes()

    def __del__(self) -> None:
        _allocated.pop(id(self), None)


def allocated_bytes() -> int:
    """Of all storages on "mps"."""
    return sum(_allocated.copy().values())


def _storage_of(tensor: torch.Tensor) -> torch.UntypedStorage:
    try:
        if type(tensor) in _plain:
            return tensor.untyped_storage()
        with torch._C.DisableTorchFunctionSubclass():  # a subclass of the script's may not let itself be asked
            return tensor.untyped_storage()
    except NotImplementedError:  # inside torch.func's transformations: what they wrapped has it
        if not torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            raise
        return _storage_of(torch._C._functorch.get_unwrapped(tensor))


def is_marked(storage: torch.UntypedStorage) -> bool:
    return hasattr(storage, _mark)


def mark(storage: torch.UntypedStorage) -> None:
    if not hasattr(storage, _mark):
        setattr(storage, _mark, _Allocation(storage))


def _parts(tensor: torch.Tensor) -> list[torch.Tensor] | None:
    """A wrapper subclass (quantized weights, nested tensors) has no memory, but tensors that it is made of."""
    if type(tensor) in _plain or not hasattr(type(tensor), "__tensor_flatten__"):
        return None
    with torch._C.DisableTorchFunctionSubclass():
        try:
            return [getattr(tensor, name) for name in tensor.__tensor_flatten__()[0]]
        except AttributeError:  # it is being made
            return []


def is_tagged(tensor: torch.Tensor) -> bool:
    parts = _parts(tensor)
    if parts is not None:
        return any(is_tagged(part) for part in parts)
    try:
        return hasattr(_storage_of(tensor), _mark)
    except NotImplementedError:  # a sparse tensor has several storages; it is marked itself
        return hasattr(tensor, _mark)
    except RuntimeError:  # fake and other tensors without storage
        return False


def tag(tensor: torch.Tensor) -> None:
    parts = _parts(tensor)
    if parts is not None:
        for part in parts:
            tag(part)
        return
    try:
        mark(_storage_of(tensor))
    except NotImplementedError:
        setattr(tensor, _mark, True)
    except RuntimeError:
        pass


def share_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    parts, other_parts = _parts(one), _parts(other)
    if parts is not None:
        return one is other or any(share_memory(*pair) for pair in zip(parts, other_parts or []))
    if one.layout is not torch.strided:
        return one is other
    return _storage_of(one)._cdata == _storage_of(other)._cdata


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors among arguments or results, in lists, tuples and dictionaries too."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    found: list[torch.Tensor] = []
    for item in value:
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, (list, tuple, dict)):
            found += tensors_in(item)
    return found
