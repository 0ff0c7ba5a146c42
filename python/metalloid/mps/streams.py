"""torch.mps.Stream: torch's class for it has no base on Linux. A stream is a number (torch_mps/device/streams.h)."""

from __future__ import annotations

from typing import Any

import torch

from ._plugin.extension import Device


class Stream(torch.Stream):
    """A stream of the device: a new one of its pool, or the one with a number.

    Args:
        stream_id: 0 is the default stream; None: the next one of the pool.
    """

    def __new__(cls, priority: int = 0, stream_id: int | None = None, **keywords: Any) -> Stream:
        if stream_id is None:
            return super().__new__(cls, device="mps", priority=priority)
        mps = int(torch._C._autograd.DeviceType.MPS)
        return super().__new__(cls, stream_id=stream_id, device_index=0, device_type=mps)

    def __repr__(self) -> str:
        return f"<torch.mps.Stream stream_id={self.stream_id}>"


def install(device: Device) -> None:
    torch.mps.Stream = torch.mps.streams.Stream = Stream
    torch._C._mps_getCurrentStream = lambda: Stream(stream_id=device.current_stream())
    torch._C._mps_setStream = lambda stream: device.set_current_stream(stream.stream_id)
