"""MLX scripts written for a Mac, on Linux: ``python -m metalloid.mlx script.py args...``

Kernels of ``mx.fast.metal_kernel`` run on Metalloid, all other operations on MLX's CPU back end. Importing this package
changes nothing; :func:`install` does, for the process that calls it.
"""

from ._install import install

__all__ = ["install"]
