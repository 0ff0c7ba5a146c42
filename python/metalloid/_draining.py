"""Calls that wait for the device: where torch raises what kernels have reported with TORCH_REPORT_ERROR.

They are those whose answer is on the host: values of elements, texts, copies to the CPU, and shapes that depend on
elements. Under ``python -m metalloid.mps`` the device mode asks here; elsewhere all tensors are on the CPU, and a mode
that watches them is entered once a kernel has reported something.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from . import _errors

_names_of_methods = (
    "item", "tolist", "cpu", "numpy", "__array__", "__repr__", "__str__", "__format__", "__bool__", "__int__", "__float__",
    "__complex__", "__index__", "__contains__", "is_nonzero", "nonzero", "equal", "allclose", "masked_select", "unique",
    "unique_consecutive", "bincount", "repeat_interleave", "__reduce_ex__", "__dlpack__", "argwhere", "istft",
)  # fmt: skip
_functions = {
    function
    for owner in (torch.Tensor, torch, torch._C._VariableFunctions)
    for name in _names_of_methods
    if (function := getattr(owner, name, None)) is not None
}
_copies = {torch.Tensor.to, torch.Tensor.copy_, torch.Tensor.type}
_indexing = {torch.Tensor.__getitem__, torch.Tensor.__setitem__, torch.where}




def _to_the_host(func: Any, args: tuple, kwargs: dict, is_on_device: Callable[[torch.Tensor], bool]) -> bool:
    """Whether a copy reaches the CPU."""
    if func is torch.Tensor.copy_:
        return not is_on_device(args[0])
    for value in (*args[1:2], *kwargs.values()):
        if isinstance(value, torch.Tensor):
            return not is_on_device(value)
        if isinstance(value, (str, torch.device)) and str(value).startswith(("cpu", "torch.")):
            return True
    return False


def _tensors_in(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in _tensors_in(item)] if isinstance(value, (list, tuple)) else []


def drains(func: Any, args: tuple, kwargs: dict, is_on_device: Callable[[torch.Tensor], bool]) -> bool:
    """Whether this call of a torch function waits for the device."""
    try:
        is_one, is_copy = func in _functions, func in _copies
        is_known = is_one or is_copy or func in _indexing
    except TypeError:  # not hashable
        return False
    if not is_known or not any(map(is_on_device, _tensors_in([*args, *kwargs.values()]))):
        return False
    if is_copy:
        return _to_the_host(func, args, kwargs, is_on_device)
    if func is torch.where:
        return len(args) == 1
    return is_one or any(index.dtype in (torch.bool, torch.uint8) for index in _tensors_in(args[1:2]))


class _Watch(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if _errors.is_reported() and drains(func, args, kwargs or {}, lambda tensor: True):
            _errors.synchronize()
        return func(*args, **(kwargs or {}))


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
