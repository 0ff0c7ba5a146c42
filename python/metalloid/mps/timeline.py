"""Events and streams. Kernels have finished when their call returns: an event is a point in time, streams are one.

``torch.Event`` and ``torch.Stream``, which take a device, become classes that make ours for "mps" and for none.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import torch

from .. import _errors
from .device_mode import is_mps, mps


class _DeviceEvent(torch.Event):
    """torch.Event(device=None, *, enable_timing=False, ...)."""

    def __new__(cls, device: Any = None, **keywords: Any) -> Any:
        if device is None or is_mps(device):
            return Event(keywords.get("enable_timing", False))
        return super().__new__(cls, device, **keywords)


class Event(_DeviceEvent):
    """torch.mps.Event."""

    _timed: bool
    _time: float | None

    def __new__(cls, enable_timing: bool = False) -> Event:
        event: Event = torch.Event.__new__(cls, device="cpu")
        event._timed = enable_timing
        event._time = None
        return event

    def __repr__(self) -> str:
        return f"<torch.Event device={mps} enable_timing={self._timed}>"

    @property
    def device(self) -> torch.device:
        return mps

    def record(self, stream: Stream | None = None) -> None:
        self._time = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        _errors.raise_reported()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds.

        Raises:
            RuntimeError: one of the two was not recorded, or not made for timing.
            torch.AcceleratorError: a kernel reported an error.
        """
        if not (self._timed and end_event._timed):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or end_event._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        _errors.raise_reported()
        return (end_event._time - self._time) * 1000


class _DeviceStream(torch.Stream):
    """torch.Stream(device=None, *, priority=0), or made from the numbers of another one."""

    def __new__(cls, device: Any = None, **keywords: Any) -> Any:
        if "stream_id" in keywords:
            return super().__new__(cls, **keywords)
        if device is None or is_mps(device):
            return Stream()
        return super().__new__(cls, device, **keywords)


class Stream(_DeviceStream):
    """torch.mps.Stream. All are the same one."""

    def __new__(cls, **keywords: Any) -> Stream:
        type_of_mps = int(torch._C._autograd.DeviceType.MPS)
        stream: Stream = torch.Stream.__new__(cls, stream_id=0, device_index=0, device_type=type_of_mps)
        return stream

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

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


def install() -> None:
    torch.mps.Event = torch.mps.event.Event = Event
    torch.mps.Stream = Stream
    torch.mps.stream = stream
    torch.mps.set_stream = lambda stream: None
    torch.mps.current_stream = lambda: the_stream
    torch.mps.default_stream = lambda: the_stream
    torch.Event, torch.Stream = _DeviceEvent, _DeviceStream
