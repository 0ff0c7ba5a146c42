"""mx.array as MLX's transformations see it: what MLX refuses to differentiate must not become a silent zero here.

A kernel runs at once, so its outputs are plain arrays to MLX, without a history. mx.custom_function gives them one whose
derivative is MLX's own error. Inside a user's mx.custom_function theirs is asked, and this one never is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx


def _refuse(transformation: str) -> Callable[..., Any]:
    def refuse(*_: Any) -> Any:
        raise ValueError(f"[Primitive::{transformation}] Not implemented for CustomKernel.")

    return refuse


_vjp, _jvp = _refuse("vjp"), _refuse("jvp")


def call_with_history(run: Callable[[list[Any]], list[Any]], inputs: list[Any]) -> list[Any]:
    """run(inputs), as one operation of MLX's graph without derivatives. Inputs that are no mx.array pass by."""
    places = [place for place, value in enumerate(inputs) if isinstance(value, mx.array)]

    def run_arrays(*arrays: Any) -> list[Any]:
        values = list(inputs)
        for place, array in zip(places, arrays, strict=True):
            values[place] = array
        return run(values)

    if not places:
        return run(inputs)
    function = mx.custom_function(run_arrays)
    function.vjp(_vjp)
    function.jvp(_jvp)
    try:
        return function(*(inputs[place] for place in places))
    except (RuntimeError, ValueError) as error:
        if "eval" in str(error) and "transformations" in str(error):
            raise RuntimeError(
                "[metal_kernel] A kernel reads its arrays when it is called, which mx.compile and mx.vmap do not allow "
                "inside the functions that they trace. Turn mx.compile off with mx.disable_compile() (or run the script "
                "with python -m metalloid.mlx, which does); MLX's own kernels have no vmap either."
            ) from error
        raise
