"""Which tensors are on "mps".

The mark is on a tensor's storage, so views, gradients' aliases and tensors that autograd saved share it. torch keeps a
storage's Python object alive as long as the storage.
"""

from __future__ import annotations

from typing import Any

import torch

_mark = "_metalloid_is_on_mps"


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    try:
        return tensor.untyped_storage()
    except NotImplementedError:  # inside torch.func's transformations: what they wrapped has it
        if not torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            raise
        return _storage(torch._C._functorch.get_unwrapped(tensor))


def is_marked(storage: torch.UntypedStorage) -> bool:
    return hasattr(storage, _mark)


def mark(storage: torch.UntypedStorage) -> None:
    setattr(storage, _mark, True)


def is_tagged(tensor: torch.Tensor) -> bool:
    try:
        return hasattr(_storage(tensor), _mark)
    except NotImplementedError:  # a sparse tensor has several storages; it is marked itself
        return hasattr(tensor, _mark)
    except RuntimeError:  # fake and other tensors without storage
        return False


def tag(tensor: torch.Tensor) -> None:
    try:
        setattr(_storage(tensor), _mark, True)
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
