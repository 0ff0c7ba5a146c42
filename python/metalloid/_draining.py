"""Calls that wait for the device: where torch raises what kernels have reported with TORCH_REPORT_ERROR.

They are those whose answer is on the host. There are three kinds: operators whose result or its shape depends on elements
(``item``, ``nonzero``, and whatever calls them: conditions, texts, slices), which ``OperatorWatch`` sees; functions that
hand out memory without an operator (``tolist``, ``numpy``, pickling); and copies to the CPU.

Under ``python -m metalloid.mps`` the device mode asks here; elsewhere all tensors are on the CPU, and a mode that
watches them is entered once a kernel has reported something.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from . import _errors

_names_of_methods = (
    "tolist", "numpy", "__array__", "__dlpack__", "__reduce_ex__", "apply_", "map_", "map2_", "cpu",
    "__repr__", "__str__", "__format__",
)  # fmt: skip
# As torch made them: the device "mps" puts functions of its own around some (mps/exports.py).
_give_memory = {
    inspect.unwrap(function)
    for name in _names_of_methods
    if (function := getattr(torch.Tensor, name, None)) is not None
}
_take_numbers = {torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor.new_tensor}

# Beside those that torch tags itself: by name, without overload.
_dependent = {
    "aten::equal", "aten::is_nonzero", "aten::_linalg_check_errors", "aten::_to_sparse", "aten::_coalesce",
    "aten::linalg_lstsq", "aten::linalg_matrix_rank", "aten::_assert_scalar",
}  # fmt: skip
_dependent_on_masks = {"aten::index", "aten::index_put_", "aten::index_put", "aten::_index_put_impl_", "aten::_unsafe_index"}
_tags = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors among arguments, in sequences, dictionaries and slices too."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    elif isinstance(value, dict):
        value = value.values()
    return [tensor for item in value for tensor in tensors_in(item)] if _is_nested(value) else []


def _is_nested(value: Any) -> bool:
    return isinstance(value, (list, tuple, type({}.values())))


def _depends_on_elements(operator: Any, args: tuple) -> bool:
    name = operator.name().partition(".")[0]
    if name in _dependent_on_masks:
        return any(index.dtype in (torch.bool, torch.uint8) for index in tensors_in(args[1:2]))
    return name in _dependent or not _tags.isdisjoint(operator.tags)


class OperatorWatch(TorchDispatchMode):
    """While it is entered, an operator that depends on the elements of a tensor on the device raises the report."""

    def __init__(self, is_on_device: Callable[[torch.Tensor], bool]) -> None:
        super().__init__()
        self._is_on_device = is_on_device
        self._derived: dict[int, torch.Tensor] = {}  # what was computed since, kept alive so that no id comes twice

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        tensors = tensors_in((args, kwargs))
        is_one = any(id(tensor) in self._derived or self._is_on_device(tensor) for tensor in tensors)
        if is_one and _errors.is_reported() and _depends_on_elements(func, args):
            _errors.synchronize()
        result = func(*args, **kwargs)
        if is_one:
            self._derived.update((id(tensor), tensor) for tensor in tensors_in(result))
        return result


def gives_memory(func: Any, args: tuple, is_on_device: Callable[[torch.Tensor], bool]) -> bool:
    """Whether this torch function shows the host a tensor's elements without an operator."""
    try:
        is_known, takes_numbers = inspect.unwrap(func) in _give_memory, func in _take_numbers
    except TypeError:  # not hashable
        return False
    if takes_numbers:  # tensors in a sequence are read one by one
        args = tuple(value for value in args[-1:] if _is_nested(value))
    return (is_known or takes_numbers) and any(map(is_on_device, tensors_in(args)))


def _is_copy_to_the_host(func: Any, args: tuple, kwargs: dict) -> bool:
    """Where all tensors are on the CPU: `to` that names it."""
    values = (*args[1:2], *kwargs.values())
    return func is torch.Tensor.to and any(
        isinstance(value, (str, torch.device)) and str(value).startswith("cpu") for value in values
    )


class _Watch(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        if not _errors.is_reported():
            return func(*args, **kwargs)
        if (
            gives_memory(func, args, lambda tensor: True)
            or func is torch.Tensor.untyped_storage
            or _is_copy_to_the_host(func, args, kwargs)
        ):
            _errors.synchronize()
        with OperatorWatch(lambda tensor: True):
            return func(*args, **kwargs)


_of_thread = threading.local()


def watch() -> None:
    """From now on until the report is raised, in this thread. Not inside of other modes: they could not be left."""
    if torch._C._len_torch_function_stack() == 0:
        _of_thread.watch = _Watch()
        _of_thread.watch.__enter__()


def end_watch() -> None:
    """Leaves the mode, if nothing is to be told any more and no other mode was entered since."""
    mode = getattr(_of_thread, "watch", None)
    if mode is None or _errors.is_reported():
        return
    count = torch._C._len_torch_function_stack()
    if count == 1 and torch._C._get_function_stack_at(0) is mode:
        mode.__exit__(None, None, None)
        _of_thread.watch = None
