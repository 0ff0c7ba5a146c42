"""Kernels on mx.array that run when they are called.

Their outputs are plain arrays to MLX, without a history: what MLX refuses to differentiate would become a silent zero.
mx.custom_function gives them one whose derivative is MLX's own error. Inside a user's mx.custom_function theirs is asked,
and this one never is.

While mx.export_function traces, no array has values yet, and MLX's own metal_kernel describes the kernel for the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
import numpy

from .._call import Call, runs_at_once
from .export import exported


def _refuse(transformation: str) -> Callable[..., Any]:
    def refuse(*_: Any) -> Any:
        raise ValueError(f"[Primitive::{transformation}] Not implemented for CustomKernel.")

    return refuse


_vjp, _jvp = _refuse("vjp"), _refuse("jvp")


def _allocate(shape: Sequence[int], dtype: str) -> Any:
    if dtype not in ("bfloat16", "float64") and math.prod(shape) <= 1 << 16:
        # A copy of few zeros is quicker than an operation on MLX's stream (1 us instead of 13 for one page).
        return mx.array(numpy.zeros(shape, dtype))
    array = mx.zeros(tuple(shape), getattr(mx, "bool_" if dtype == "bool" else dtype))
    mx.eval(array)  # its memory is its own, and nobody else has seen it yet
    return array


_run_at_once = runs_at_once(_allocate)


def run(call: Call) -> list[Any]:
    """The kernel's outputs, as one operation of MLX's graph without derivatives. Inputs that are no mx.array pass by."""
    arrays = [value for value in call.inputs if isinstance(value, mx.array)]
    if not arrays:
        return _run_at_once(call)

    def run_arrays(*_: Any) -> list[Any]:
        # The call's own arrays: those that come here are operations on them, which MLX would have to evaluate.
        return _run_at_once(call)

    function: Any = mx.custom_function(run_arrays)
    function.vjp(_vjp)
    function.jvp(_jvp)
    try:
        return function(*arrays)
    except RuntimeError as error:
        if not str(error).startswith("[eval] Attempting to eval an array during function transformations"):
            raise
        outputs = exported(call)
        if outputs is not None:
            return outputs
        raise RuntimeError(
            "[metal_kernel] A kernel reads its arrays when it is called, which mx.compile and mx.vmap do not allow "
            "inside the functions that they trace. Turn mx.compile off with mx.disable_compile(), or let MLX evaluate "
            "kernels (metalloid.mlx.set_evaluation('lazy')); MLX's own kernels have no vmap either."
        ) from error
