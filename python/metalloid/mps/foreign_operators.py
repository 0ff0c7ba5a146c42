"""Operators of compiled extensions: kernels that C++ registered for MPS (TORCH_LIBRARY_IMPL(ns, MPS, m)).

Tensors on "mps" dispatch as CPU tensors here, so torch would run such an operator's kernel for the CPU, or say that it
has none. Neither is what the script would see on a Mac.
"""

from __future__ import annotations

from typing import Any

import torch

_operator_types = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
_own_namespaces = {"aten", "prim", "prims"}


def _names(operator: Any) -> list[str]:
    if isinstance(operator, torch._ops.OpOverload):
        return [operator.name()]
    name = operator._qualified_op_name
    return [f"{name}.{overload}" if overload != "default" else name for overload in operator.overloads()]


def refuse_kernels_of_extensions(operator: Any) -> None:
    """Raises NotImplementedError for an operator with a compiled kernel for MPS, which is called with such tensors."""
    if not isinstance(operator, _operator_types):
        return
    for name in _names(operator):
        if name.partition("::")[0] in _own_namespaces:
            return
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, "MPS"):
            raise NotImplementedError(
                f"{name} has a kernel for MPS in a compiled extension, which needs the MPS backend of PyTorch for macOS: "
                "under Metalloid's runner, compiled extensions cannot have kernels for MPS. Kernels that Python registers "
                "(torch.library) and torch.mps.compile_shader run"
            )
