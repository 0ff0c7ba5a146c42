"""mx.gpu on a machine where MLX has only a CPU: a device of its own to ask about, the CPU to every operation.

Scripts choose their path by `mx.default_device() == mx.gpu`, and compare it with the other under `mx.stream(mx.cpu)`.
So the two must differ, although the work is done in the same place.

=======================  =====================================================================================
mx.gpu, mx.cpu           are members of mx.DeviceType, as in MLX
mx.Device(mx.gpu)        and what mx.default_device() gives: devices. MLX takes these and those for its CPU, because
                         their class is derived from its own
streams                  MLX's own. Their device is the GPU, unless mx.new_stream(mx.cpu) or the like made them
=======================  =====================================================================================
"""

from __future__ import annotations

import threading
from typing import Any


def install_devices(mx: Any) -> None:
    real_device, real_kinds, real_stream, real_set = mx.Device, mx.DeviceType, mx.stream, mx.set_default_device
    real_available = getattr(mx, "is_available", lambda device: True)  # MLX 0.30 has neither
    real_count = getattr(mx, "device_count", lambda device: 1)

    class OnCpu(real_device):  # type: ignore[valid-type, misc] # the class that MLX has here
        def __init__(self, name: str) -> None:
            super().__init__(real_kinds.cpu)
            self.name = name

        def __eq__(self, other: Any) -> bool:
            return self.name == name_of(other)

        def __ne__(self, other: Any) -> bool:
            return not self == other

        def __hash__(self) -> int:
            return hash(self.name)

    class Kind(OnCpu):
        __module__ = "mlx.core"

        @property
        def value(self) -> int:
            return real_kinds[self.name].value

        def __repr__(self) -> str:
            return f"DeviceType.{self.name}"

        def __reduce__(self) -> str:  # to copy and pickle: mlx.core.gpu, whatever that is where it is read
            return self.name

    class Named(OnCpu):
        @property
        def type(self) -> Any:
            return kinds[self.name]

        def __repr__(self) -> str:
            return f"Device({self.name}, 0)"

    def name_of(value: Any) -> str | None:
        """ "gpu" or "cpu" for what stands for one of them, here or in MLX."""
        if isinstance(value, real_device):
            return value.name if isinstance(value, OnCpu) else value.type.name
        return value.name if isinstance(value, real_kinds) else None

    kinds = {name: Kind(name) for name in ("gpu", "cpu")}
    devices = {name: Named(name) for name in ("gpu", "cpu")}

    # What a call of the two classes gives, and what is their instance.

    class DeviceMaker(type):
        def __call__(cls, kind: Any = real_kinds.cpu, index: int = 0) -> Any:
            return devices[name_of(kind) or "cpu"]

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, real_device) and not isinstance(value, Kind)

    class KindMaker(type):
        def __call__(cls, value: Any) -> Any:
            return value if isinstance(value, Kind) else kinds[real_kinds(value).name]

        def __getitem__(cls, name: str) -> Any:
            return kinds[name]

        def __iter__(cls) -> Any:
            return iter([kinds["cpu"], kinds["gpu"]])

        def __len__(cls) -> int:
            return 2

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, (Kind, real_kinds))

    class Device(metaclass=DeviceMaker):
        __doc__ = real_device.__doc__

    class DeviceType(metaclass=KindMaker):
        __doc__ = real_kinds.__doc__
        cpu, gpu = kinds["cpu"], kinds["gpu"]

    class Chosen(threading.local):
        name = "gpu"

    chosen = Chosen()
    cpu_streams: list[Any] = []

    def chosen_by(target: Any) -> str:
        return name_of(target) or ("cpu" if target in cpu_streams else "gpu")

    class StreamContext:
        def __init__(self, target: Any) -> None:
            self._name = chosen_by(target)
            self._context = real_stream(target)

        def __enter__(self) -> None:
            self._before, chosen.name = chosen.name, self._name
            self._context.__enter__()

        def __exit__(self, *error: Any) -> None:
            chosen.name = self._before
            self._context.__exit__(*error)

    def remembering(make_stream: Any) -> Any:
        def new_stream(device: Any) -> Any:
            stream = make_stream(device)
            if name_of(device) == "cpu":
                cpu_streams.append(stream)
            return stream

        new_stream.__doc__ = make_stream.__doc__
        return new_stream

    def set_default_device(device: Any) -> None:
        chosen.name = chosen_by(device)
        real_set(real_kinds.cpu)

    mx.gpu, mx.cpu = kinds["gpu"], kinds["cpu"]
    mx.Device, mx.DeviceType = Device, DeviceType
    mx.stream = StreamContext
    for name in ("new_stream", "new_thread_local_stream", "new_thread_unsafe_stream"):
        if hasattr(mx, name):
            setattr(mx, name, remembering(getattr(mx, name)))
    for stream_class in filter(None, (mx.Stream, getattr(mx, "ThreadLocalStream", None))):
        stream_class.device = property(lambda stream: devices[chosen_by(stream)])
        stream_class.__repr__ = _representation(stream_class.__repr__)
    mx.default_device = lambda: devices[chosen.name]
    mx.set_default_device = set_default_device
    mx.is_available = lambda device: name_of(device) == "gpu" or real_available(device)
    mx.device_count = lambda device: 1 if name_of(device) == "gpu" else real_count(real_kinds.cpu)


def _representation(of_mlx: Any) -> Any:
    """Stream(Device(gpu, 0), 1), where MLX says Stream(Device(cpu, 0), 1)."""
    return lambda stream: of_mlx(stream).replace("Device(cpu, 0)", repr(stream.device))
