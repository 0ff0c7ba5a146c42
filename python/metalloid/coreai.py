"""Runs kernels of Core AI's own TorchMetalKernel (package coreai-torch) and compares them with their definitions.

Core AI's class computes ``torch_defn`` when it is called in Python; its Metal source runs on a Mac only, after
conversion. Here the source that its converter generates runs on Linux.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ._torch_metal_kernel.run import run_source
from ._torch_metal_kernel.verify import (
    ResultComparison,
    VerificationError,
    check_inputs_unchanged,
    check_shapes,
    compare,
    copies_of,
)

__all__ = ["ResultComparison", "Verification", "VerificationError", "converted_source", "verify"]


@dataclasses.dataclass(frozen=True)
class Verification:
    """A kernel whose results are those of its definition."""

    kernel_name: str
    source: str
    results: list[torch.Tensor]  # what the Metal source computed
    comparisons: list[ResultComparison]


class _Call(torch.nn.Module):
    """A model that is one call of the kernel; its inputs are the call's tensors."""

    def __init__(self, kernel: Any, args: Sequence[Any], keywords: dict[str, Any]) -> None:
        super().__init__()
        self._kernel, self._args, self._keywords = kernel, args, keywords

    def forward(self, *tensors: torch.Tensor) -> Any:
        remaining = iter(tensors)
        args = [next(remaining) if isinstance(value, torch.Tensor) else value for value in self._args]
        return self._kernel(*args, **self._keywords)


def converted_source(
    kernel: Any,
    *args: Any,
    threads_per_grid: Sequence[int],
    threads_per_thread_group: Sequence[int],
    result_shapes: Sequence[Sequence[int]],
) -> tuple[str, str]:
    """The name and the source of the kernel in a model that calls it so, from coreai-torch's converter."""
    import coreai_torch

    keywords = {
        "threads_per_grid": tuple(threads_per_grid),
        "threads_per_thread_group": tuple(threads_per_thread_group),
        "result_shapes": [list(shape) for shape in result_shapes],
    }
    tensors = tuple(value for value in args if isinstance(value, torch.Tensor))
    program = torch.export.export(_Call(kernel, args, keywords).eval(), tensors)
    converter = coreai_torch.TorchConverter()
    converter.register_custom_kernels([kernel])
    converter.add_exported_program(program.run_decompositions(coreai_torch.get_decomp_table()))
    text = str(converter.to_coreai())
    return _attribute(text, "kernel_name"), _attribute(text, "kernel_source")


def verify(
    kernel: Any,
    *args: Any,
    threads_per_grid: Sequence[int],
    threads_per_thread_group: Sequence[int],
    result_shapes: Sequence[Sequence[int]],
    rtol: float | None = None,
    atol: float | None = None,
) -> Verification:
    """Runs the Metal source of Core AI's TorchMetalKernel and compares every result with ``torch_defn``.

    Args:
        kernel: an instance of ``coreai_torch.TorchMetalKernel``.
        args, threads_per_grid, threads_per_thread_group, result_shapes: as for a call of the kernel.
        rtol, atol: tolerance; default by element type. Integers must be equal.

    Raises:
        VerificationError: naming every result that differs, and where.
        SyntaxError: the source does not compile; the text is the compiler's log.
        ImportError: coreai-torch is not installed.
        metalloid.Error: the kernel cannot be launched so, crashed, or ran into the timeout.
        Whatever coreai-torch raises if it refuses the call or the conversion.
    """
    name, source = converted_source(
        kernel,
        *args,
        threads_per_grid=threads_per_grid,
        threads_per_thread_group=threads_per_thread_group,
        result_shapes=result_shapes,
    )
    expected = _definition(kernel)(*args)
    expected = [expected] if isinstance(expected, torch.Tensor) else list(expected)
    check_shapes(kernel.name, kernel.result_names, result_shapes, expected)
    copies = copies_of(args)
    results = run_source(
        source, name, copies, result_shapes, threads_per_grid, threads_per_thread_group, poison=True
    )
    check_inputs_unchanged(kernel.name, kernel.input_names, args, copies)
    comparisons = compare(kernel.name, kernel.result_names, results, expected, rtol, atol)
    return Verification(name, source, results, comparisons)


# torch_defn itself: as an operator it must not return one of its inputs, which is fine after conversion.
def _definition(kernel: Any) -> Callable[..., Any]:
    return inspect.unwrap(kernel.torch_custom_op._init_fn)


def _attribute(text: str, name: str) -> str:
    found = re.findall(name + r' = "((?:[^"\\]|\\.)*)"', text)
    if len(found) != 1:
        raise RuntimeError(f"the converted model has {len(found)} kernels instead of one")
    return _unescaped(found[0])


def _unescaped(text: str) -> str:
    r"""MLIR writes quotes, backslashes and bytes outside printable ASCII as \HH, some of them as \\ and \"."""
    out = bytearray()
    position = 0
    data = text.encode()
    while position < len(data):
        if data[position : position + 1] != b"\\":
            out += data[position : position + 1]
            position += 1
        elif re.fullmatch(rb"[0-9A-Fa-f]{2}", data[position + 1 : position + 3]):
            out.append(int(data[position + 1 : position + 3], 16))
            position += 3
        else:
            out += data[position + 1 : position + 2]
            position += 2
    return out.decode()
