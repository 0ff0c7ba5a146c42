"""What torch's Python looks for beside the device itself: bindings that wheels for Linux lack, and compile_shader."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

import torch

from .. import _metallib, _shader
from .._arguments.policy import ArgumentPolicy
from .._diagnostics import capture
from . import exports, extensions, headers, layouts, macos, sharing, storages, streams
from ._plugin.extension import Device


class MpsPolicy(ArgumentPolicy):
    """Tensors on "mps" are device memory; numbers and bits are handed over unchecked, as torch.mps does."""

    def is_device_memory(self, tensor: Any) -> bool:
        return tensor.is_mps

    def is_on_stream(self, values: Sequence[Any]) -> bool:
        return True

    def after_report(self) -> None:
        """The device raises what was reported when it hands memory to the host."""


policy = MpsPolicy(accepts_arrays=False, checks_types=False)


def compile_shader(source: str) -> _shader.ShaderLibrary:
    fast = os.environ.get("PYTORCH_MPS_FAST_MATH", "0") not in ("", "0")
    return _shader.compile_shader(
        source, math_mode="fast" if fast else "safe", language=macos.language(),
        headers=headers.included_by(source) if isinstance(source, str) else None, policy=policy,
    )  # fmt: skip


def _load_metallib(source: bytes | str) -> Any:
    what = "" if isinstance(source, bytes) else f" from '{source}'"
    try:
        return _metallib.load_metallib(source, policy=policy)
    except (OSError, ValueError, RuntimeError) as error:
        raise RuntimeError(f"Failed to load metallib{what}: {error}") from None


def _start_capture(name: str | None = None) -> None:
    """Begins a trace of what is enqueued from now on."""
    torch.mps.synchronize()
    capture.start(name)


def _stop_capture() -> None:
    """Ends the trace behind all that was enqueued."""
    try:
        torch.mps.synchronize()
    finally:
        capture.stop()


def _start_profiler(mode: str = "interval", wait_until_completed: bool = False) -> None:
    _start_capture()


def install(device: Device) -> None:
    """Fills in torch._C.

    Args:
        device: the extension of the device.
    """
    bindings = {
        "_has_mps": True,
        "_mps_get_name": lambda: f"Metalloid on {platform.machine()}",
        "_mps_get_core_count": lambda: os.cpu_count() or 1,
        "_mps_profilerStartTrace": _start_profiler,
        "_mps_profilerStopTrace": _stop_capture,
        "_mps_isCaptureEnabled": lambda: True,
        "_mps_isCapturing": capture.is_running,
        "_mps_startCapture": _start_capture,
        "_mps_stopCapture": _stop_capture,
        "_mps_compileShader": compile_shader,
        "_mps_loadMetalllib": _load_metallib,  # spelled so
        "_mps_loadMetallibFromPath": _load_metallib,
        "_mps_host_alias_storage": storages.host_alias,
    }
    for name, value in bindings.items():
        setattr(torch._C, name, value)
    torch.mps.compile_shader = compile_shader  # the original pastes headers into the source, and lines move
    for answer in (torch.backends.mps.is_available, torch.backends.mps.is_macos_or_newer, torch.backends.mps.is_macos13_or_newer):
        if hasattr(answer, "cache_clear"):
            answer.cache_clear()
    device.set_macos_version(*macos.version())
    platform.processor = lambda: "arm"  # PyTorch Lightning asks for it, as on Macs with another one MPS is of no use
    macos.install()
    exports.install()
    sharing.install()
    storages.install()
    streams.install(device)
    layouts.install()
    extensions.install()
