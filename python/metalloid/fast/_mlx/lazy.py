"""Kernels as operations of MLX's graph: mx.compile traces them, mx.eval runs them, in the order of their stream."""

from __future__ import annotations

import atexit
import os
import pathlib
from typing import Any

import mlx.core as mx

from ... import _core
from .._call import Call
from .build import CannotBuild, build_extension
from .export import exported


def load() -> None:
    """Compiles the extension, if it is not in the cache, and loads it.

    Raises:
        RuntimeError: that is not possible here; the text says why.
    """
    try:
        binary = build_extension(pathlib.Path(mx.__file__).parent, mx.__version__)
        _core.load_mlx_extension(_path_of(binary), mx.zeros((3, 5)))
    except (CannotBuild, OSError, RuntimeError) as error:
        raise RuntimeError(f"the extension for MLX {mx.__version__} is missing: {error}") from error
    # MLX's threads do not end with the process; a kernel that they run must not lose the compiler under its feet.
    atexit.register(_core.finish_mlx_kernels)


def _path_of(binary: bytes) -> str:
    """A file in memory. It stays open: the dynamic linker knows libraries by their paths, which must not come again."""
    file = os.memfd_create("metalloid-mlx")
    with os.fdopen(os.dup(file), "wb") as copy:
        copy.write(binary)
    return f"/proc/{os.getpid()}/fd/{file}"


def run(call: Call) -> list[Any]:
    if "float64" in call.output_dtypes:
        raise ValueError("float64 is not supported on the GPU")  # as MLX says when it makes such an array
    inputs = [value if type(value) is mx.array else _as_array(value) for value in call.inputs]
    if _core.mlx_is_traced(inputs):
        outputs = exported(call)
        if outputs is not None:
            return outputs
    outputs = [mx.array(False) for _ in call.output_shapes]
    if call.stream is None or call.stream == mx.gpu:  # which MLX has no stream for, unless its runner made one
        call.kernel.add_mlx_node(call, inputs, outputs)
    else:
        with mx.stream(call.stream):
            call.kernel.add_mlx_node(call, inputs, outputs)
    return outputs


def _as_array(value: Any) -> Any:
    try:
        return mx.array(value)
    except (TypeError, ValueError):
        raise TypeError(f"[metal_kernel] Not an array, nor a number: {type(value)}") from None
