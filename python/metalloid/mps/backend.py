"""torch.mps, torch.backends.mps and what else a script may ask about the device."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import threading
from typing import Any

import torch

from .. import _errors, _shader
from .._arguments.policy import ArgumentPolicy
from .._diagnostics import capture
from . import autocast, foreign_operators, gradients, headers, macos, memory_access, operators, scripted, serialization, timeline
from .device_mode import MpsMode, is_mps, mps
from .tags import allocated_bytes, is_marked, is_tagged


class MpsPolicy(ArgumentPolicy):
    """Tensors on "mps" are device memory; numbers and bits are handed over unchecked, as torch.mps does."""

    def is_device_memory(self, tensor: Any) -> bool:
        return is_tagged(tensor)

    def while_binding(self) -> Any:
        """Questions to tensors need not pass the device mode: that takes ten times as long as all the rest."""
        return torch._C.DisableTorchFunction()

    def after_report(self) -> None:
        """The device mode looks itself."""


policy = MpsPolicy(accepts_arrays=False, checks_types=False)


def compile_shader(source: str) -> _shader.ShaderLibrary:
    fast = os.environ.get("PYTORCH_MPS_FAST_MATH", "0") not in ("", "0")
    return _shader.compile_shader(
        source, math_mode="fast" if fast else "safe", language=macos.language(),
        headers=headers.included_by(source) if isinstance(source, str) else None, policy=policy,
    )  # fmt: skip


def _load_metallib(source: bytes | str) -> Any:
    what = "" if isinstance(source, bytes) else f" from '{source}'"
    raise RuntimeError(f"Failed to load metallib{what}: Metalloid compiles Metal source, not Apple's binaries")


def _start_profiler(mode: str = "interval", wait_until_completed: bool = False) -> None:
    capture.start()


def _host_alias(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """The same memory as a storage on the CPU, which keeps the one on "mps" alive."""
    if not is_marked(storage):
        raise RuntimeError("only a storage on 'mps' has an alias on the CPU")
    if storage.nbytes() == 0:
        return torch.UntypedStorage(0)
    memory = (ctypes.c_byte * storage.nbytes()).from_address(storage.data_ptr())
    memory.storage = storage
    return torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()


def _nothing(*arguments: Any, **keywords: Any) -> None:
    return None


def _memory() -> int:
    """All of the machine's, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _resident() -> int:
    """This process's, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _set_device_index(index: int) -> None:
    if index > 0:
        raise RuntimeError(f"device index {index} is out of range: there is one MPS device, mps:0")


def _fill_bindings() -> None:
    bindings = {
        "_has_mps": True,
        "_mps_is_available": lambda: True,
        "_mps_is_on_macos_or_newer": macos.is_or_newer,
        "_mps_is_in_bad_fork": lambda: False,
        "_mps_get_default_generator": lambda: torch.default_generator,
        "_mps_get_name": lambda: f"Metalloid on {platform.machine()}",
        "_mps_get_core_count": lambda: os.cpu_count() or 1,
        "_mps_deviceSynchronize": _errors.synchronize,
        "_mps_emptyCache": _nothing,
        "_mps_setMemoryFraction": _nothing,
        "_mps_currentAllocatedMemory": allocated_bytes,
        "_mps_driverAllocatedMemory": allocated_bytes,
        "_mps_recommendedMaxMemory": _memory,
        "_mps_profilerStartTrace": _start_profiler,
        "_mps_profilerStopTrace": capture.stop,
        "_mps_isCaptureEnabled": lambda: True,
        "_mps_isCapturing": capture.is_running,
        "_mps_startCapture": capture.start,
        "_mps_stopCapture": capture.stop,
        "_mps_compileShader": compile_shader,
        "_mps_loadMetalllib": _load_metallib,  # spelled so
        "_mps_loadMetallibFromPath": _load_metallib,
        "_mps_host_alias_storage": _host_alias,
        "_mps_getCurrentStream": lambda: timeline.the_stream,
        "_mps_setStream": _nothing,
        "_accelerator_getAccelerator": lambda: torch.device("mps"),
        "_get_accelerator": lambda check=None: torch.device("mps"),
        "_accelerator_getDeviceIndex": lambda: 0,
        "_accelerator_setDeviceIndex": _set_device_index,
        "_accelerator_exchangeDevice": lambda index: 0,
        "_accelerator_maybeExchangeDevice": lambda index: 0,
        "_accelerator_getStream": lambda index: timeline.the_stream,
        "_accelerator_setStream": _nothing,
        "_accelerator_synchronizeDevice": lambda index: _errors.synchronize(),
        "_accelerator_isAllocatorInitialized": lambda: False,
        "_accelerator_getMemoryInfo": lambda index: (max(_memory() - _resident(), 0), _memory()),
        "_accelerator_getDefaultGenerator": lambda index: torch.default_generator,
    }
    for name, value in bindings.items():
        setattr(torch._C, name, value)


class _Generator(torch._C.Generator):
    """torch.Generator; one for "mps" draws on the CPU."""

    def __new__(cls, device: Any = "cpu") -> Any:
        if is_mps(device):
            return super().__new__(_MpsGenerator, device="cpu")
        return super().__new__(cls, device=device)


class _MpsGenerator(_Generator):
    @property
    def device(self) -> torch.device:
        return mps


def _enter_in_every_thread() -> None:
    """Modes belong to one thread; new threads get one of their own."""
    bootstrap = threading.Thread._bootstrap_inner

    def started(self: threading.Thread) -> None:
        with MpsMode():
            bootstrap(self)

    threading.Thread._bootstrap_inner = started


def install() -> None:
    """Replaces them. torch.compile, which does not look through the marks of tensors, runs functions as they are."""
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    platform.processor = lambda: "arm"  # PyTorch Lightning asks for it, as on Macs with another one MPS is of no use
    _fill_bindings()
    torch.mps.compile_shader = compile_shader
    torch.mps.synchronize = _errors.synchronize
    torch.mps.is_available = lambda: True
    torch.mps.device_count = lambda: 1
    # The originals are lru_caches too: torch.compile, and with it every optimiser, looks at their __wrapped__.
    torch.backends.mps.is_available = functools.lru_cache(lambda: True)
    torch.backends.mps.is_built = lambda: True
    torch.backends.mps.is_macos_or_newer = functools.lru_cache(macos.is_or_newer)
    torch.backends.mps.is_macos13_or_newer = lambda minor=0: True
    torch.Generator = _Generator
    # torch.compile looks at what these are, not at the bindings that they call.
    torch.accelerator.is_available = lambda: True
    torch.accelerator.device_count = lambda: 1
    torch.accelerator.current_accelerator = lambda check_available=False: torch.device("mps")
    torch.accelerator.current_device_index = torch.accelerator.current_device_idx = lambda: 0
    torch.accelerator.set_device_index = torch.accelerator.set_device_idx = lambda device: None
    torch.accelerator.synchronize = lambda device=None: _errors.synchronize()
    torch.accelerator.current_stream = lambda device=None: timeline.the_stream
    torch.accelerator.set_stream = _nothing
    macos.install()
    for part in (autocast, foreign_operators, gradients, memory_access, operators, scripted, serialization, timeline):
        part.install()
    _enter_in_every_thread()
