"""Compiles Metal Shading Language compute kernels on Linux and runs them.

>>> import numpy, metalloid
>>> lib = metalloid.compile_shader("kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }")
>>> x = numpy.arange(4, dtype=numpy.float32)
>>> lib.twice(x)
>>> x
array([0., 2., 4., 6.], dtype=float32)
"""

from . import fast
from ._core import Error, devices
from ._core import version as __version__
from ._errors import AcceleratorError, synchronize
from ._policy import ArgumentPolicy
from ._shader import Kernel, ShaderLibrary, compile_shader

__all__ = [
    "AcceleratorError",
    "ArgumentPolicy",
    "Error",
    "Kernel",
    "ShaderLibrary",
    "__version__",
    "compile_shader",
    "devices",
    "fast",
    "synchronize",
]
