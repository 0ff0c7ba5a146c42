"""Who runs a call: the array library of its inputs decides what its outputs are."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .._arguments import device_arrays
from .._arguments.tensors import is_tensor
from ._call import Call, Runner, runs_at_once


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


def _device_outputs(place: device_arrays.Place, package: str) -> Callable[[Sequence[int], str, float], Any]:
    """How a library makes outputs on a device: of a shape, a dtype, and a value that all elements have."""
    module = importlib.import_module(package)
    if package == "torch":
        device = module.device("cuda", place[1])
        return lambda shape, dtype, value: module.full(tuple(shape), value, dtype=getattr(module, dtype), device=device)
    if package == "cupy":

        def allocate(shape: Sequence[int], dtype: str, value: float) -> Any:
            with module.cuda.Device(place[1]):
                return module.full(tuple(shape), value, dtype)

        return allocate
    raise TypeError(
        f"[metal_kernel] Outputs on {device_arrays.name_of(place)} are tensors of torch or arrays of cupy; inputs of "
        f"{package} alone do not tell which. Give one input as torch.as_tensor() or cupy.asarray() makes it, without a copy."
    )


def _on_device(place: device_arrays.Place) -> Runner:
    """The kernel is launched where its inputs are, and what the outputs hold comes in their library's order."""

    def run(call: Call) -> list[Any]:
        given = [value for value in call.inputs if device_arrays.place_of(value) is not None]
        packages = ["torch" if is_tensor(value) else _package_of(value) for value in given]
        package = next((name for name in packages if name in ("torch", "cupy")), packages[0])
        allocate = _device_outputs(place, package)
        # Integers have no NaN to be undefined by.
        value = call.init_value or 0
        outputs = [
            allocate(shape, dtype, value) for shape, dtype in zip(call.output_shapes, call.output_dtypes, strict=True)
        ]
        call.kernel.launch_into(call, place, outputs)
        return outputs

    return run


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
    whose dtypes were given. With an input on a GPU all is there."""
    place = device_arrays.first_place(inputs)
    if place is not None:
        return _on_device(place)
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
