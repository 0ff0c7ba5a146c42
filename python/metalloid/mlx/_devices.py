"""mx.gpu on a machine where MLX has only a CPU: a device of its own to ask about, the CPU to every operation.

Scripts choose their path by `mx.default_device() == mx.gpu`, and compare it with the other under `mx.stream(mx.cpu)`. So
the two must differ, although the work is done in the same place.
"""

from __future__ import annotations

import threading
from typing import Any


def install_devices(mx: Any) -> None:
    real_device, real_stream = mx.Device, mx.stream
    real_new_stream, real_set = mx.new_stream, mx.set_default_device
    real_available = getattr(mx, "is_available", lambda device: True)  # MLX 0.30 has neither
    real_count = getattr(mx, "device_count", lambda device: 1)
    kinds = mx.DeviceType

    class Named(real_device):
        """MLX takes it for the CPU, of which it is a subclass; scripts see the type that it was made with."""

        def __init__(self, kind: Any) -> None:
            super().__init__(kinds.cpu)
            self._kind = kind

        @property
        def type(self) -> Any:
            return self._kind

        def __eq__(self, other: Any) -> bool:
            return self.type == (other.type if isinstance(other, real_device) else other)

        def __ne__(self, other: Any) -> bool:
            return not self == other

        def __hash__(self) -> int:
            return hash(self.type)

        def __repr__(self) -> str:
            return f"Device({self.type.name}, 0)"

    gpu, cpu = Named(kinds.gpu), Named(kinds.cpu)

    class Chosen(threading.local):
        device: Any = gpu

    chosen = Chosen()
    cpu_streams: list[Any] = []

    def device_of(target: Any) -> Any:
        if isinstance(target, mx.Stream):
            return cpu if target in cpu_streams else gpu
        return cpu if target == cpu else gpu

    class DeviceMaker(type):
        def __call__(cls, kind: Any = kinds.cpu, index: int = 0) -> Any:
            return gpu if gpu == kind else cpu

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, real_device)

    class Device(metaclass=DeviceMaker):  # a call gives one of MLX's devices, which are its instances
        __doc__ = real_device.__doc__

    class StreamContext:
        def __init__(self, target: Any) -> None:
            self._device = device_of(target)
            self._context = real_stream(target)

        def __enter__(self) -> None:
            self._before, chosen.device = chosen.device, self._device
            self._context.__enter__()

        def __exit__(self, *error: Any) -> None:
            chosen.device = self._before
            self._context.__exit__(*error)

    def new_stream(device: Any) -> Any:
        stream = real_new_stream(device)
        if device_of(device) == cpu:
            cpu_streams.append(stream)
        return stream

    def set_default_device(device: Any) -> None:
        chosen.device = device_of(device)
        real_set(kinds.cpu)

    mx.gpu, mx.cpu = gpu, cpu
    mx.Device = Device
    mx.stream = StreamContext
    mx.new_stream = new_stream
    mx.default_device = lambda: chosen.device
    mx.set_default_device = set_default_device
    mx.is_available = lambda device: gpu == device or real_available(device)
    mx.device_count = lambda device: 1 if gpu == device else real_count(kinds.cpu)
