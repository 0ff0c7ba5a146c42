"""What torch.compile makes of graphs for the device: where convolutions' tensors are, and how reductions are done."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import re
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch


def _is_channels_last(tensor: torch.Tensor) -> bool:
    if tensor.dim() not in (4, 5) or all(size == 1 for size in tensor.shape[1:]):
        return False
    from torch._prims_common import make_channels_last_strides_for

    return tuple(tensor.stride()) == tuple(make_channels_last_strides_for(tensor.shape))


def _format(input: torch.Tensor, weight: torch.Tensor) -> torch.memory_format:
    """As operations/Convolution.cpp makes them: wheels for Linux were compiled without the backend for MPS."""
    if not (_is_channels_last(input) or _is_channels_last(weight)):
        return torch.contiguous_format
    return torch.channels_last_3d if input.dim() == 5 else torch.channels_last


class _WhenImported(importlib.abc.MetaPathFinder):
    """Calls a function with a module once it is imported, which nobody need do."""

    def __init__(self, name: str, change: Callable[[ModuleType], None]) -> None:
        self._name, self._change = name, change

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def execute_and_change(module: ModuleType) -> None:
                execute(module)
                self._change(module)

            spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


def _keep_images_in_rows(graph: ModuleType) -> None:
    """Convolutions of the device go through rows of an image: channels last would have each copied twice."""
    decide = graph.GraphLowering.decide_layout_opt
    convolutions = (torch.ops.aten.convolution.default, torch.ops.aten.convolution_backward.default)

    @functools.wraps(decide)
    def decide_layout_opt(gm: torch.fx.GraphModule, **options: Any) -> bool:
        def is_ours(node: torch.fx.Node) -> bool:
            value = node.args[0].meta.get("val") if node.args and isinstance(node.args[0], torch.fx.Node) else None
            return node.target in convolutions and getattr(value, "is_mps", False)

        return not any(map(is_ours, gm.graph.nodes)) and decide(gm, **options)

    graph.GraphLowering.decide_layout_opt = staticmethod(decide_layout_opt)


def _keep_group_norms(decomposition: ModuleType) -> None:
    """The device's own kernel takes a fifth of the time of the reduction that TorchInductor makes of one."""
    operator = torch.ops.aten.native_group_norm.default
    decompose = decomposition.decompositions.get(operator)
    if decompose is None:
        return

    @functools.wraps(decompose)
    def native_group_norm(input: torch.Tensor, *arguments: Any, **options: Any) -> Any:
        return NotImplemented if input.is_mps else decompose(input, *arguments, **options)

    decomposition.decompositions[operator] = native_group_norm


def _call_group_norms(lowering: ModuleType) -> None:
    lowering.make_fallback(
        torch.ops.aten.native_group_norm.default, lowering.require_contiguous, warn=False, override_decomp=True
    )


_BLOCK_OF_A_THREAD = re.compile(r"(\w+_linear_idx = )\S+ \* (\w+) \+ (\w+_cnt);")


def _reduce_in_rows(mps: ModuleType) -> None:
    """Threads of a reduction take elements by turns, so that those of a SIMD group read what lies side by side, also
    where the number of elements is known: TorchInductor gives each a block of its own then. Of equal elements argmax
    names the first thread's, for which that has to be so."""
    generate = mps.MetalKernel.codegen_kernel

    @functools.wraps(generate)
    def codegen_kernel(self: Any, *arguments: Any, **options: Any) -> str:
        code = generate(self, *arguments, **options)
        if "threadgroup_argmax(" in code or "threadgroup_argmin(" in code:
            return code
        return _BLOCK_OF_A_THREAD.sub(rf"\g<1>{self.max_threadgroup_size} * \3 + \2;", code)

    mps.MetalKernel.codegen_kernel = codegen_kernel


_CHANGES = {
    "torch._inductor.graph": _keep_images_in_rows,
    "torch._inductor.decomposition": _keep_group_norms,
    "torch._inductor.lowering": _call_group_norms,
    "torch._inductor.codegen.mps": _reduce_in_rows,
}


def install() -> None:
    for name, change in _CHANGES.items():
        if name in sys.modules:
            change(sys.modules[name])
        else:
            sys.meta_path.insert(0, _WhenImported(name, change))
    original = torch._C._conv_determine_backend_memory_format

    @functools.wraps(original)
    def determine(input: torch.Tensor, weight: torch.Tensor, backend: Any) -> torch.memory_format:
        return _format(input, weight) if input.is_mps else original(input, weight, backend)

    torch._C._conv_determine_backend_memory_format = determine
