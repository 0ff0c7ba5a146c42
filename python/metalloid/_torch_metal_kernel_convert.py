"""Conversion of Metalloid's TorchMetalKernel by coreai-torch: ``TorchConverter.register_custom_kernels([kernel])``.

The converter knows calls of Core AI's own operators only, and asks the kernel's class for the rest. So a kernel that is
exported where coreai-torch is installed calls the operator of a kernel of Core AI's class with the same declaration,
whose implementation here runs the Metal source, too; and the converter's questions are answered by that kernel.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

_lock = threading.Lock()


def is_available() -> bool:
    """Whether coreai-torch is installed."""
    return importlib.util.find_spec("coreai_torch") is not None


class Convertible:
    """The part of TorchMetalKernel that coreai-torch's converter talks to."""

    name: str
    input_names: list[str]
    _arguments: dict[str, Any]
    _run: Callable[..., Any]
    _of_coreai: Any = None

    def _as_coreai_kernel(self) -> Any:
        """The kernel of Core AI's class, made when it is first needed."""
        if self._of_coreai is not None:
            return self._of_coreai
        with _lock:
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

    def _is_exported_for_coreai(self) -> bool:
        """Whether torch.export traces what runs now, for a program that coreai-torch could convert.

        Dynamo (``strict=True``) cannot trace how the kernel is made, so there must be one already.
        """
        if not torch.compiler.is_exporting():
            return False
        return self._of_coreai is not None or (not torch.compiler.is_dynamo_compiling() and is_available())

    def _run_for_coreai(self, *arguments: Any) -> Any:
        """Grid, threadgroup and shapes come as tensors."""
        count = len(self.input_names)
        return self._run(*arguments[:count], *(values.tolist() for values in arguments[count:]))

    # What the converter asks for, by Core AI's names.

    @property
    def _scalar_input_types(self) -> dict[str, type]:
        return self._as_coreai_kernel()._scalar_input_types  # type: ignore[no-any-return]

    @property
    def _scalar_values_for_call(self) -> dict[str, Any]:
        return getattr(self._as_coreai_kernel(), "_scalar_values_for_call", {})

    @_scalar_values_for_call.setter
    def _scalar_values_for_call(self, values: dict[str, Any]) -> None:
        self._as_coreai_kernel()._scalar_values_for_call = values

    def _construct_kernel_op(self, input_values: Sequence[Any], result_types: Sequence[Any]) -> Any:
        return self._as_coreai_kernel()._construct_kernel_op(input_values, result_types)
