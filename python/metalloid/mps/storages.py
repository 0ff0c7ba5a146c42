"""Storages on "mps": torch's binding for Linux makes none by name of the device, only tensors do."""

from __future__ import annotations

import ctypes
from typing import Any

import torch


def host_alias(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """The same memory as a storage on the CPU, which keeps the one on "mps" alive.

    Raises:
        RuntimeError: the storage is not on "mps".
    """
    if storage.device.type != "mps":
        raise RuntimeError("only a storage on 'mps' has an alias on the CPU")
    torch.mps.synchronize()
    if storage.nbytes() == 0:
        return torch.UntypedStorage(0)
    memory = (ctypes.c_byte * storage.nbytes()).from_address(storage.data_ptr())
    memory.storage = storage
    return torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()


def _made(make: Any) -> Any:
    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is None or torch.device(device).type != "mps":
            return make(cls, *args, **kwargs)
        value = args[0] if args else kwargs.get("size", 0)
        if isinstance(value, int):
            return torch.empty(value, dtype=torch.uint8, device="mps").untyped_storage()
        return torch.tensor(list(value), dtype=torch.uint8, device="mps").untyped_storage()

    return new


def install() -> None:
    torch.UntypedStorage.__new__ = _made(torch.UntypedStorage.__new__)
