"""Conversion of Metalloid's TorchMetalKernel by coreai-torch: ``TorchConverter.register_custom_kernels([kernel])``.

The converter knows calls of Core AI's own operators only. So the decompositions that coreai-torch has its users apply to an
exported program (``coreai_torch.get_decomp_table()``) learn one more for every kernel of Metalloid's: into the operator of
a kernel of Core AI's class with the same declaration, whose implementation here runs the Metal source, too. A program to
which they were not applied is decomposed when the converter gets it. What the converter asks a registered kernel is
answered by that one.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._runners.import_hook import after_import

_kernels: weakref.WeakSet[Convertible] = weakref.WeakSet()


class Convertible:
    """The part of TorchMetalKernel that coreai-torch's converter talks to."""

    name: str
    input_names: list[str]
    torch_custom_op: Any
    _arguments: dict[str, Any]
    _return_kind: str
    _run: Callable[..., Any]
    _of_coreai: Any = None

    def _make_convertible(self) -> None:
        _kernels.add(self)
        after_import("coreai_torch", _extend_decompositions)

    def _as_coreai_kernel(self) -> Any:
        """The kernel of Core AI's class, made when it is first needed."""
        if self._of_coreai is None:
            try:
                import coreai_torch
            except ImportError as error:
                raise TypeError(
                    f"kernel {self.name!r} is Metalloid's TorchMetalKernel: to be converted for Core AI it needs the "
                    f"package coreai-torch ({error})"
                ) from None
            own = ("verify", "rtol", "atol")
            kernel = coreai_torch.TorchMetalKernel(
                **{name: value for name, value in self._arguments.items() if name not in own}
            )
            kernel.torch_custom_op.register_kernel("cpu")(self._run_for_coreai)
            self._of_coreai = kernel
        return self._of_coreai

    def _run_for_coreai(self, *arguments: Any) -> Any:
        """Grid, threadgroup and shapes come as tensors."""
        count = len(self.input_names)
        return self._run(*arguments[:count], *(values.tolist() for values in arguments[count:]))

    def _decomposed(self, *arguments: Any) -> Any:
        """The call of this kernel's operator as one of Core AI's."""
        count = len(self.input_names)
        launch = (_as_tensor(extents) for extents in arguments[count:])
        result = self._as_coreai_kernel().torch_custom_op(*arguments[:count], *launch)
        is_packed = self._return_kind == "tuple" and isinstance(result, (list, tuple)) and len(result) == 1
        return result[0] if is_packed else result

    # What the converter asks for, by Core AI's names.

    @property
    def _scalar_input_types(self) -> dict[str, type]:
        return self._as_coreai_kernel()._scalar_input_types

    @property
    def _scalar_values_for_call(self) -> dict[str, Any]:
        return getattr(self._as_coreai_kernel(), "_scalar_values_for_call", {})

    @_scalar_values_for_call.setter
    def _scalar_values_for_call(self, values: dict[str, Any]) -> None:
        self._as_coreai_kernel()._scalar_values_for_call = values

    def _construct_kernel_op(self, input_values: Sequence[Any], result_types: Sequence[Any]) -> Any:
        return self._as_coreai_kernel()._construct_kernel_op(input_values, result_types)


def _as_tensor(extents: Sequence[Any]) -> torch.Tensor:
    """Of operators without side effects, which torch.tensor is not while it is traced."""
    if not extents:
        return torch.zeros(0, dtype=torch.uint32)
    return torch.stack([torch.scalar_tensor(extent, dtype=torch.uint32) for extent in extents])


def _extend_decompositions(module: Any) -> None:
    """coreai_torch.get_decomp_table() with the kernels that there are when it is called."""
    original = module.get_decomp_table
    if hasattr(original, "_knows_metalloid"):
        return

    @functools.wraps(original)
    def get_decomp_table(*arguments: Any, **keywords: Any) -> Any:
        table = original(*arguments, **keywords)
        for kernel in list(_kernels):
            table[kernel.torch_custom_op._opoverload] = kernel._decomposed
        return table

    get_decomp_table._knows_metalloid = True  # type: ignore[attr-defined]
    module.get_decomp_table = get_decomp_table
    _decompose_for_converter(module.TorchConverter, original)


def _decompose_for_converter(converter: Any, core_ai_table: Callable[[], Any]) -> None:
    """Programs come as coreai-torch's documentation has them: with calls of registered kernels, and nothing else to do."""
    add = converter.add_exported_program
    parameters = inspect.signature(add)

    @functools.wraps(add)
    def add_exported_program(*arguments: Any, **keywords: Any) -> Any:
        bound = parameters.bind(*arguments, **keywords)
        name = list(parameters.parameters)[1]
        program = bound.arguments[name]
        called = {node.target for node in program.graph.nodes if node.op == "call_function"}
        own = {kernel.torch_custom_op._opoverload: kernel._decomposed for kernel in list(_kernels)}
        if called & own.keys():
            bound.arguments[name] = program.run_decompositions({**core_ai_table(), **own})
        return add(*bound.args, **bound.kwargs)

    converter.add_exported_program = add_exported_program
