"""What changes in mlx.core, and nothing else does. An MLX that was built with its Metal back end has a GPU of its own,
Metalloid's device, and stays as it is.

======================  =============================================================================================
mx.fast.metal_kernel    metalloid.fast.metal_kernel
mx.gpu, mx.cpu and the  two devices that MLX both runs on its CPU back end (_devices.py)
default device
mx.metal.is_available,  answer as on a machine with one GPU
mx.device_info
mx.metal.start_capture, a trace in Chrome's format (_diagnostics/capture.py)
stop_capture
mx.gather_mm,           half and bfloat16, too, which MLX's CPU back end does not have (_operations.py)
mx.block_masked_mm
mx.compile              stays as it is, unless kernels are evaluated eagerly (fast/_mlx): then it is off, because a
                        function that is traced has no values yet
======================  =============================================================================================
"""

from __future__ import annotations

import os
from typing import Any

from .. import fast
from .._diagnostics import capture
from ._devices import install_devices
from ._operations import install_operations


def install(mx: Any = None) -> None:
    """Makes mlx.core run Metal kernels through Metalloid, in this process and from now on."""
    if mx is None:
        import mlx.core as mx  # type: ignore[no-redef] # the parameter
    if mx.fast.metal_kernel is fast.metal_kernel or mx.metal.is_available():
        return
    from ..fast import _mlx
    from ..fast._mlx import export  # noqa: F401  (takes hold of MLX's own metal_kernel)

    evaluation = _mlx.evaluation()
    real_info = getattr(mx, "device_info", lambda device: {"device_name": "cpu"})  # MLX 0.30 has none

    def device_info(*_: Any) -> dict[str, Any]:
        return {**real_info(mx.cpu), **_memory()}

    mx.fast.metal_kernel = fast.metal_kernel
    install_devices(mx)
    install_operations(mx)
    mx.metal.is_available = lambda: True
    mx.metal.start_capture = _start_capture
    mx.metal.stop_capture = _stop_capture
    mx.metal.device_info = device_info
    mx.device_info = device_info
    if evaluation == "eager":
        mx.disable_compile()
        mx.enable_compile = lambda: None


def _start_capture(path: str) -> None:
    if capture.is_running():
        raise RuntimeError("[metal::start_capture] Failed to start: a capture is running already")
    capture.start(path)


def _stop_capture() -> None:
    from .. import _core

    _core.finish_mlx_kernels()  # kernels of MLX's graph that are running belong to it
    capture.stop()


def _memory() -> dict[str, int]:
    """MLX's facts about a GPU that scripts size their caches by. Metal recommends three quarters of the memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "memory_size": memory,
        "max_recommended_working_set_size": memory * 3 // 4,
        "max_buffer_length": memory // 2,
        "resource_limit": 499000,
    }
