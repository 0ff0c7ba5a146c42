"""New arrays for a kernel's outputs, of the kind that its inputs are."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Maker(NamedTuple):
    """How to get an output: memory for the kernel to write, the array that the caller then receives, and around both
    what the library must know of the call."""

    allocate: Callable[[Sequence[int], str], Any]
    finish: Callable[[Any], Any]
    call: Callable[..., list[Any]]


def _unchanged(array: Any) -> Any:
    return array


def _call(run: Callable[[list[Any]], list[Any]], inputs: list[Any], _: Any) -> list[Any]:
    return run(inputs)


def _numpy() -> Maker:
    import numpy

    def allocate(shape: Sequence[int], dtype: str) -> Any:
        if dtype == "bfloat16":  # NumPy has none of its own
            try:
                import ml_dtypes
            except ImportError:
                raise TypeError("[metal_kernel] A NumPy output of bfloat16 needs the package ml_dtypes.") from None
            return numpy.zeros(shape, ml_dtypes.bfloat16)
        return numpy.zeros(shape, dtype)

    return Maker(allocate, _unchanged, _call)


def _mlx() -> Maker:
    import math

    import mlx.core as mx
    import numpy

    from ._mlx import call_with_history

    def allocate(shape: Sequence[int], dtype: str) -> Any:
        if dtype not in ("bfloat16", "float64") and math.prod(shape) <= 1 << 16:
            # A copy of few zeros is quicker than an operation on MLX's stream (1 us instead of 13 for one page).
            return mx.array(numpy.zeros(shape, dtype))
        array = mx.zeros(tuple(shape), getattr(mx, "bool_" if dtype == "bool" else dtype))
        mx.eval(array)  # its memory is its own, and nobody else has seen it yet
        return array

    return Maker(allocate, _unchanged, call_with_history)


def _torch() -> Maker:
    import torch

    return Maker(lambda shape, dtype: torch.zeros(tuple(shape), dtype=getattr(torch, dtype)), _unchanged, _call)


def _through_dlpack(package: str) -> Maker:
    module = importlib.import_module(package)
    for candidate in (module, getattr(module, "numpy", None), getattr(module, "dlpack", None)):
        if hasattr(candidate, "from_dlpack"):
            return Maker(_numpy().allocate, candidate.from_dlpack, _call)
    return _numpy()


_makers: dict[str, Maker] = {}


def _package_of(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def maker_for(inputs: Sequence[Any], dtypes: Sequence[Any]) -> Maker:
    """Of the first input that is an array; without one, of the library whose dtypes were given."""
    package = "numpy"
    for value in inputs:
        if not isinstance(value, (bool, int, float, complex)):
            package = _package_of(value)
            break
    else:
        for dtype in dtypes:
            package = _package_of(dtype)
    if package in ("builtins", "array"):
        package = "numpy"
    if package not in _makers:
        known = {"numpy": _numpy, "ml_dtypes": _numpy, "mlx": _mlx, "torch": _torch}
        if package in known:
            _makers[package] = known[package]()
        else:
            _makers[package] = _through_dlpack(package) if package in sys.modules else _numpy()
    return _makers[package]
