"""Gradients on "mps".

Autograd computes gradients in C++, which no mode sees: what it hands to a custom Function's backward or to hooks gets
its mark here. A Function's node remembers whether its inputs were on "mps".
"""

from __future__ import annotations

from typing import Any

import torch

from .device_mode import MpsMode
from .tags import is_tagged, tag, tensors_in


def _tag_all(gradients: Any) -> None:
    for gradient in tensors_in(gradients):
        tag(gradient)


def _remember_in_node(apply: Any) -> Any:
    def applied(cls: type, *args: Any, **kwargs: Any) -> Any:
        result = apply.__get__(None, cls)(*args, **kwargs)
        if any(is_tagged(tensor) for tensor in tensors_in((args, kwargs))):
            for tensor in tensors_in(result):
                node = tensor.grad_fn
                if isinstance(node, torch.autograd.function.BackwardCFunction):
                    node._metalloid_is_on_mps = True
        return result

    return classmethod(applied)


def _tag_for_backward(apply: Any) -> Any:
    def applied(self: Any, *gradients: Any) -> Any:
        if hasattr(self, "_metalloid_is_on_mps"):
            _tag_all(gradients)
        with MpsMode():  # the mode does not see what happens within a call that it handles, `backward` being one
            return apply(self, *gradients)

    return applied


def _tag_for_module_hooks(apply_on_tensors: Any) -> Any:
    """The hooks that Module.register_full_backward_hook and its kin put on nodes."""

    def applied(self: Any, function: Any, args: Any) -> Any:
        if not any(is_tagged(tensor) for tensor in tensors_in(args)):
            return apply_on_tensors(self, function, args)
        return apply_on_tensors(self, lambda node: function(_NodeOnMps(node)), args)

    return applied


class _NodeOnMps:
    """A node of the graph whose hooks get gradients on "mps"."""

    def __init__(self, node: Any) -> None:
        self._node = node

    def register_hook(self, hook: Any) -> Any:
        def hook_on_mps(inputs: Any, outputs: Any) -> Any:
            _tag_all((inputs, outputs))
            with MpsMode():
                return hook(inputs, outputs)

        return self._node.register_hook(hook_on_mps)


def _in_mode(hook: Any) -> Any:
    def called(value: Any) -> Any:
        with MpsMode():
            return hook(value)

    return called


def _pack_in_mode(init: Any) -> Any:
    """Autograd packs and unpacks what it saves outside of all modes."""

    def initialised(self: Any, pack_hook: Any, unpack_hook: Any) -> None:
        init(self, _in_mode(pack_hook), _in_mode(unpack_hook))

    return initialised


def install() -> None:
    saved_tensors = torch.autograd.graph.saved_tensors_hooks
    saved_tensors.__init__ = _pack_in_mode(saved_tensors.__init__)
    function, hook = torch.autograd.function, torch.utils.hooks.BackwardHook
    function.Function.apply = _remember_in_node(function.Function.__dict__["apply"])
    function.BackwardCFunction.apply = _tag_for_backward(function.BackwardCFunction.apply)
    hook._apply_on_tensors = _tag_for_module_hooks(hook._apply_on_tensors)
