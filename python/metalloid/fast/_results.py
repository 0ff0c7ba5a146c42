"""Who runs a call: the array library of its inputs decides what its outputs are."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

from ._call import Runner, runs_at_once


def _allocate_numpy(shape: Sequence[int], dtype: str) -> Any:
    import numpy

    if dtype == "bfloat16":  # NumPy has none of its own
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError("[metal_kernel] A NumPy output of bfloat16 needs the package ml_dtypes.") from None
        return numpy.zeros(shape, ml_dtypes.bfloat16)
    return numpy.zeros(shape, dtype)


def _numpy() -> Runner:
    return runs_at_once(_allocate_numpy)


def _mlx() -> Runner:
    from ._mlx import run

    return run


def _torch() -> Runner:
    import torch

    return runs_at_once(lambda shape, dtype: torch.zeros(tuple(shape), dtype=getattr(torch, dtype)))


def _through_dlpack(package: str) -> Runner:
    module = importlib.import_module(package)
    for candidate in (module, getattr(module, "numpy", None), getattr(module, "dlpack", None)):
        if candidate is not None and hasattr(candidate, "from_dlpack"):
            return runs_at_once(_allocate_numpy, candidate.from_dlpack)
    return _numpy()


_runners: dict[str, Runner] = {}


def _package_of(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def runner_for(inputs: Sequence[Any], dtypes: Sequence[Any]) -> Runner:
    """MLX's where an input or a dtype is of MLX; else of the first input that is an array; without one, of the library
    whose dtypes were given."""
    package = None
    for value in inputs:
        if not isinstance(value, (bool, int, float, complex)):
            other = _package_of(value)
            if other == "mlx":
                return _runner_of(other)
            package = package or other
    of_dtypes = _package_of(dtypes[0])
    return _runner_of(of_dtypes if package is None or of_dtypes == "mlx" else package)


def _runner_of(package: str) -> Runner:
    if package in ("builtins", "array"):
        package = "numpy"
    if package not in _runners:
        known = {"numpy": _numpy, "ml_dtypes": _numpy, "mlx": _mlx, "torch": _torch}
        if package in known:
            _runners[package] = known[package]()
        else:
            _runners[package] = _through_dlpack(package) if package in sys.modules else _numpy()
    return _runners[package]
