"""MLX scripts written for a Mac, on Linux: ``python -m metalloid.mlx script.py args...``

Kernels of ``mx.fast.metal_kernel`` run on Metalloid, all other operations on MLX's CPU back end. Importing this package
changes nothing; :func:`install` does, for the process that calls it.

:func:`evaluation` and :func:`set_evaluation` tell and choose whether kernels on ``mx.array`` are operations of MLX's graph
("lazy") or run when they are called ("eager").
"""

from typing import Any

__all__ = ["evaluation", "install", "set_evaluation"]


def install(mx: Any = None) -> None:
    """Makes mlx.core run Metal kernels through Metalloid, in this process and from now on."""
    from . import _install  # loads the compiler, which child processes that never import MLX do without

    _install.install(mx)


def __getattr__(name: str) -> object:
    if name not in ("evaluation", "set_evaluation"):
        raise AttributeError(f"module 'metalloid.mlx' has no attribute {name!r}")
    from ..fast import _mlx  # imports MLX

    return getattr(_mlx, name)
