"""torch.save writes that a tensor is on "mps", torch.load puts it there again, and map_location decides as usual.

Processes cannot share what is on "mps", so sending it to another process (torch.multiprocessing) is an error.
"""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

from .. import _errors
from .tags import is_marked, mark


def _location(storage: Any) -> str | None:
    if not is_marked(getattr(storage, "_untyped_storage", storage)):
        return None
    _errors.synchronize()  # what is saved is waited for
    return "mps"


def _restore(storage: Any, location: str) -> Any:
    if not location.startswith("mps"):
        return None
    mark(getattr(storage, "_untyped_storage", storage))
    return storage


def _reduce_storage(storage: Any) -> Any:
    if is_marked(getattr(storage, "_untyped_storage", storage)):
        raise RuntimeError("_share_filename_: only available on CPU, and this tensor is on mps:0; send tensor.cpu()")
    return reductions.reduce_storage(storage)


def install() -> None:
    """torch asks the packages in the order of their numbers; 10 is the CPU's, which would claim these storages."""
    torch.serialization.register_package(5, _location, _restore)
    ForkingPickler.register(torch.UntypedStorage, _reduce_storage)
