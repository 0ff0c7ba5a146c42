"""torch.save writes that a tensor is on "mps", torch.load puts it there again, and map_location decides as usual."""

from __future__ import annotations

from typing import Any

import torch

from .tags import is_marked, mark


def _location(storage: Any) -> str | None:
    return "mps" if is_marked(getattr(storage, "_untyped_storage", storage)) else None


def _restore(storage: Any, location: str) -> Any:
    if not location.startswith("mps"):
        return None
    mark(getattr(storage, "_untyped_storage", storage))
    return storage


def install() -> None:
    """torch asks the packages in the order of their numbers; 10 is the CPU's, which would claim these storages."""
    torch.serialization.register_package(5, _location, _restore)
