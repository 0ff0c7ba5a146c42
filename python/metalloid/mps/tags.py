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


def storage_of(tensor: torch.Tensor) -> torch.UntypedStorage:
    try:
        if type(tensor) in _plain:
            return tensor.untyped_storage()
        with torch._C.DisableTorchFunctionSubclass():  # a subclass of the script's may not let itself be asked
            return tensor.untyped_storage()
    except NotImplementedError:  # inside torch.func's transformations: what they wrapped has it
        if not torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            raise
        return storage_of(torch._C._functorch.get_unwrapped(tensor))


def is_marked(storage: torch.UntypedStorage) -> bool:
    return hasattr(storage, _mark)


def mark(storage: torch.UntypedStorage) -> None:
    if not hasattr(storage, _mark):
        setattr(storage, _mark, _Allocation(storage))


def is_tagged(tensor: torch.Tensor) -> bool:
    try:
        return hasattr(storage_of(tensor), _mark)
    except NotImplementedError:  # a sparse tensor has several storages; it is marked itself
        return hasattr(tensor, _mark)
    except RuntimeError:  # fake and other tensors without storage
        return False


def tag(tensor: torch.Tensor) -> None:
    try:
        mark(storage_of(tensor))
    except NotImplementedError:
        setattr(tensor, _mark, True)
    except RuntimeError:
        pass


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
