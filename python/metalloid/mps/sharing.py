"""Tensors on "mps" do not go to other processes, as on a Mac. Whoever waits for one is told so.

A queue pickles in a thread of its own, which prints an error and goes on: the receiver would wait for ever.
"""

from __future__ import annotations

import threading
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

WORDS = (
    "_share_fd_: only available on CPU: a tensor on 'mps' cannot be sent to another process, as on a Mac; "
    "send tensor.cpu() (workers of a DataLoader: return tensors on the CPU)"
)


def _raise(words: str) -> Any:
    raise RuntimeError(words)


def _reduce_storage(storage: torch.UntypedStorage) -> tuple[Any, Any]:
    if storage.device.type != "mps":
        return reductions.reduce_storage(storage)
    if threading.current_thread().name == "QueueFeederThread":  # as multiprocessing.Queue names it
        return _raise, (WORDS,)
    raise RuntimeError(WORDS)


def install() -> None:
    ForkingPickler.register(torch.UntypedStorage, _reduce_storage)
