"""mx.array as MLX's transformations see it: what MLX refuses to differentiate must not become a silent zero here.

A kernel runs at once, so its outputs are plain arrays to MLX, without a history. mx.custom_function gives them one whose
derivative is MLX's own error. Inside a user's mx.custom_function theirs is asked, and this one never is.

While mx.export_function traces, no array has values yet, and MLX's own metal_kernel describes the kernel for the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx


def _refuse(transformation: str) -> Callable[..., Any]:
    def refuse(*_: Any) -> Any:
        raise ValueError(f"[Primitive::{transformation}] Not implemented for CustomKernel.")

    return refuse


_mlx_metal_kernel = mx.fast.metal_kernel  # before anybody replaces it
_vjp, _jvp = _refuse("vjp"), _refuse("jvp")


def call_with_history(
    run: Callable[[list[Any]], list[Any]], inputs: list[Any], call_as_declared: Callable[[Any], list[Any]]
) -> list[Any]:
    """run(inputs), as one operation of MLX's graph without derivatives. Inputs that are no mx.array pass by.

    call_as_declared makes the same call to the kernel that a given metal_kernel returns.
    """
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
    except RuntimeError as error:
        if not str(error).startswith("[eval] Attempting to eval an array during function transformations"):
            raise
        return _describe(call_as_declared, error)


def _describe(call_as_declared: Callable[[Any], list[Any]], error: RuntimeError) -> list[Any]:
    try:
        return call_as_declared(_mlx_metal_kernel)
    except RuntimeError as refusal:
        if "No Metal back-end" not in str(refusal):
            raise
    raise RuntimeError(
        "[metal_kernel] A kernel reads its arrays when it is called, which mx.compile and mx.vmap do not allow inside "
        "the functions that they trace. Turn mx.compile off with mx.disable_compile() (or run the script with "
        "python -m metalloid.mlx, which does); MLX's own kernels have no vmap either."
    ) from error
