"""Events and streams. Kernels have finished when their call returns: an event is a point in time, streams are one."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import torch

from .. import _errors


class Event:
    """torch.mps.Event."""

    def __init__(self, enable_timing: bool = False) -> None:
        self._timed = enable_timing
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        self._time = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds.

        Raises:
            RuntimeError: one of the two was not recorded, or not made for timing.
        """
        if not (self._timed and end_event._timed):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or end_event._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end_event._time - self._time) * 1000


class Stream:
    """torch.mps.Stream."""

    @property
    def device(self) -> torch.device:
        return torch.device("mps", 0)

    def synchronize(self) -> None:
        _errors.synchronize()

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def wait_event(self, event: Event) -> None:
        pass

    def wait_stream(self, stream: Stream) -> None:
        pass

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event


the_stream = Stream()


@contextlib.contextmanager
def stream(chosen: Stream | None) -> Iterator[Stream | None]:
    yield chosen
