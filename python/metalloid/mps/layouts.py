"""Where torch.compile has convolutions' tensors: wheels for Linux were compiled without the backend for MPS."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
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
    """As operations/Convolution.cpp makes them."""
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


def install() -> None:
    name = "torch._inductor.graph"
    if name in sys.modules:
        _keep_images_in_rows(sys.modules[name])
    else:
        sys.meta_path.insert(0, _WhenImported(name, _keep_images_in_rows))
    original = torch._C._conv_determine_backend_memory_format

    @functools.wraps(original)
    def determine(input: torch.Tensor, weight: torch.Tensor, backend: Any) -> torch.memory_format:
        return _format(input, weight) if input.is_mps else original(input, weight, backend)

    torch._C._conv_determine_backend_memory_format = determine
