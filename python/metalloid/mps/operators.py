"""Operators that a script registers itself: torch.library, where "MPS" is a dispatch key of its own.

Tensors on "mps" dispatch as CPU tensors. For an operator with a kernel for MPS, one function is registered for the CPU
that asks the arguments where they are. Kernels run outside of the mode that sees the operator's call, so each enters
it again.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from .device_mode import MpsMode
from .tags import is_tagged, tag, tensors_in

_kernels: dict[str, dict[str, Any]] = {}  # operator name to dispatch key ("CPU", "MPS") to function


def _in_mode(function: Any) -> Any:
    @functools.wraps(function)
    def kernel(*args: Any, **kwargs: Any) -> Any:
        with MpsMode():
            return function(*args, **kwargs)

    return kernel


def _chosen_by_arguments(name: str) -> Any:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        key = "MPS" if any(is_tagged(tensor) for tensor in tensors_in((args, kwargs))) else "CPU"
        function = _kernels[name].get(key)
        if function is None:
            raise NotImplementedError(
                f"Could not run '{name}' with arguments from the '{key}' backend. '{name}' is only available for "
                f"these backends: [{', '.join(_kernels[name])}]."
            )
        result = function(*args, **kwargs)
        if key == "MPS":
            for tensor in tensors_in(result):
                tag(tensor)
        return result

    return kernel


def _name_of(library: Any, operator: Any) -> str:
    if not isinstance(operator, str):
        return operator.name()
    return operator if "::" in operator else f"{library.ns}::{operator}"


def _register(impl: Any) -> Any:
    @functools.wraps(impl)
    def registered(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **keywords: Any) -> Any:
        key = dispatch_key or self.dispatch_key
        if fn is torch.library.fallthrough_kernel or keywords.get("with_keyset") or not callable(fn):
            return impl(self, op_name, fn, {"MPS": "CPU", "AutogradMPS": "AutogradCPU"}.get(key, key), **keywords)
        if key in ("CompositeExplicitAutograd", "CompositeImplicitAutograd"):
            return impl(self, op_name, _in_mode(fn), key, **keywords)
        if key == "AutogradMPS":
            return impl(self, op_name, _in_mode(fn), "AutogradCPU", **keywords)
        if key not in ("CPU", "MPS") or self.ns == "aten":
            return impl(self, op_name, fn, key, **keywords)
        name = _name_of(self, op_name)
        known = _kernels.setdefault(name, {})
        is_first = not known
        known[key] = _in_mode(fn)
        return impl(self, op_name, _chosen_by_arguments(name), "CPU", **keywords) if is_first else None

    return registered


def install() -> None:
    torch.library.Library.impl = _register(torch.library.Library.impl)
