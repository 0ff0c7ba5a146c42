"""Operators of compiled extensions: kernels that C++ registered for MPS (TORCH_LIBRARY_IMPL(ns, MPS, m)).

Tensors on "mps" dispatch as CPU tensors here, so torch would run such an operator's kernel for the CPU, or say that it
has none. Neither is what the script would see on a Mac. So every such operator gets a kernel for the CPU that asks its
arguments where they are, as soon as a library with it is loaded: calls from C++ meet it, too.
"""

from __future__ import annotations

import functools
import importlib.machinery
from typing import Any

import torch

from .tags import is_tagged, tensors_in

_own_namespaces = {"aten", "prim", "prims"}
_refused: dict[str, torch.library.Library] = {}  # by operator; what keeps the registration


def _kernel_in_place_of(name: str) -> Any:
    original = None
    if torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU"):
        original = torch.library.get_kernel(name, "CPU")

    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if any(map(is_tagged, tensors_in((args, kwargs)))):
            raise NotImplementedError(
                f"{name} has a kernel for MPS in a compiled extension, which needs the MPS backend of PyTorch for macOS: "
                "under Metalloid's runner, compiled extensions cannot have kernels for MPS. Kernels that Python registers "
                "(torch.library) and torch.mps.compile_shader run"
            )
        if original is None:
            raise NotImplementedError(f"Could not run '{name}' with arguments from the 'CPU' backend: it has a kernel for MPS")
        return original.call_boxed(keys, *args, **kwargs)

    return kernel


def refuse_new_kernels() -> None:
    """Of the libraries that were loaded since the last call."""
    for name in torch._C._dispatch_get_registrations_for_dispatch_key("MPS"):
        namespace, _, operator = name.partition("::")
        if namespace in _own_namespaces or name in _refused:
            continue
        library = torch.library.Library(namespace, "FRAGMENT")
        library.impl(operator, _kernel_in_place_of(name), "CPU", with_keyset=True, allow_override=True)
        _refused[name] = library


def _followed_by_refusal(load: Any) -> Any:
    @functools.wraps(load)
    def loaded(*args: Any, **kwargs: Any) -> Any:
        result = load(*args, **kwargs)
        refuse_new_kernels()
        return result

    return loaded


def install() -> None:
    refuse_new_kernels()
    loader = importlib.machinery.ExtensionFileLoader
    for name in ("create_module", "exec_module"):
        setattr(loader, name, _followed_by_refusal(getattr(loader, name)))
    operators = type(torch.ops)
    operators.load_library = _followed_by_refusal(operators.load_library)
