"""What shows the host memory of the device without passing the device mode: methods of storages, and DLPack's function.

On a Mac these wait for the device, so they raise what kernels have reported.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from .. import _errors
from .tags import is_marked, is_tagged, mark

_methods_of_storages = ("__getitem__", "__iter__", "tolist", "cpu", "_write_file", "byteswap")


def _untyped(value: Any) -> Any:
    return getattr(value, "_untyped_storage", value)


def _reads_a_storage(method: Any) -> Any:
    @functools.wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _errors.is_reported() and is_marked(_untyped(self)):
            _errors.synchronize()
        return method(self, *args, **kwargs)

    return called


def _copies_a_storage(copy: Any) -> Any:
    @functools.wraps(copy)
    def called(self: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
        if _errors.is_reported() and is_marked(_untyped(source)) and not is_marked(_untyped(self)):
            _errors.synchronize()
        return copy(self, source, *args, **kwargs)

    return called


def _clones(clone: Any) -> Any:
    @functools.wraps(clone)
    def called(self: Any) -> Any:
        if not is_marked(self):
            return clone(self)
        copy = torch.UntypedStorage(self.nbytes())
        mark(copy)
        return copy.copy_(self)

    return called


def _exports(to_dlpack: Any) -> Any:
    @functools.wraps(to_dlpack)
    def called(tensor: Any) -> Any:
        if _errors.is_reported() and is_tagged(tensor):
            _errors.synchronize()
        return to_dlpack(tensor)

    return called


def install() -> None:
    for cls in (torch.UntypedStorage, torch.TypedStorage):
        for name in _methods_of_storages:
            method = getattr(cls, name, None)
            if method is not None:
                setattr(cls, name, _reads_a_storage(method))
        cls.copy_ = _copies_a_storage(cls.copy_)
    torch.UntypedStorage.clone = _clones(torch.UntypedStorage.clone)
    torch.utils.dlpack.to_dlpack = torch.to_dlpack = _exports(torch.to_dlpack)
