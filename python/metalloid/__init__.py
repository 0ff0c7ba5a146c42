"""Compiles Metal Shading Language compute kernels on Linux and runs them.

>>> import numpy, metalloid
>>> lib = metalloid.compile_shader("kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }")
>>> x = numpy.arange(4, dtype=numpy.float32)
>>> lib.twice(x)
>>> x
array([0., 2., 4., 6.], dtype=float32)
"""

from typing import TYPE_CHECKING

from . import fast
from ._core import Error, devices
from ._core import version as __version__
from ._errors import AcceleratorError, synchronize
from ._policy import ArgumentPolicy
from ._shader import Kernel, ShaderLibrary, compile_shader

if TYPE_CHECKING:
    from . import coreai
    from ._torch_metal_kernel import TorchMetalKernel
    from ._torch_metal_kernel_source import MetalParameter
    from ._torch_metal_kernel_verify import VerificationError

# These need torch, which is imported when they are first asked for.
_lazy = {
    "MetalParameter": "_torch_metal_kernel_source",
    "TorchMetalKernel": "_torch_metal_kernel",
    "VerificationError": "_torch_metal_kernel_verify",
    "coreai": "coreai",
}

__all__ = [
    "AcceleratorError",
    "ArgumentPolicy",
    "Error",
    "Kernel",
    "MetalParameter",
    "ShaderLibrary",
    "TorchMetalKernel",
    "VerificationError",
    "__version__",
    "compile_shader",
    "coreai",
    "devices",
    "fast",
    "synchronize",
]


def __getattr__(name: str) -> object:
    if name not in _lazy:
        raise AttributeError(f"module 'metalloid' has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f".{_lazy[name]}", __name__)
    return module if name == _lazy[name] else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_lazy})
