"""Kernels from the body of a function: the interface of ``mx.fast``.

>>> import numpy, metalloid
>>> kernel = metalloid.fast.metal_kernel(
...     name="twice", input_names=["x"], output_names=["y"],
...     source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];")
>>> x = numpy.arange(4, dtype=numpy.float32)
>>> kernel(inputs=[x], grid=(4, 1, 1), threadgroup=(4, 1, 1), output_shapes=[x.shape], output_dtypes=[x.dtype])[0]
array([0., 2., 4., 6.], dtype=float32)
"""

from ._kernel import MetalKernel
from ._metal_kernel import metal_kernel

__all__ = ["MetalKernel", "metal_kernel"]
