"""Verifies every call of Core AI's own TorchMetalKernel in this process: ``pytest --metalloid-verify-coreai``.

Core AI's class computes ``torch_defn`` where it is called; here its Metal source runs as well, and the two are compared.
"""

from __future__ import annotations

import functools
import threading
from types import ModuleType
from typing import Any

from .._runners.import_hook import after_import


class Calls(threading.local):
    """In this thread."""

    verified = 0
    is_verifying = False


calls = Calls()


def verify_every_call() -> None:
    """From now on, and once coreai-torch is imported if it is not yet."""
    after_import("coreai_torch._torch_metal_kernel", _install)


def _install(module: ModuleType) -> None:
    cls = module.TorchMetalKernel
    call = cls.__call__

    @functools.wraps(call)
    def verified(self: Any, *args: Any, **launch: Any) -> Any:
        result = call(self, *args, **launch)
        if not calls.is_verifying and _has_values(args):
            from .. import coreai

            calls.is_verifying = True
            try:
                coreai.verify(self, *args, **launch)
            finally:
                calls.is_verifying = False
            calls.verified += 1
        return result

    cls.__call__ = verified


def _has_values(args: tuple) -> bool:
    """What torch.export and torch.compile trace with has none."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    if torch.compiler.is_compiling():
        return False
    return not any(
        isinstance(value, torch.Tensor) and (isinstance(value, FakeTensor) or value.is_meta) for value in args
    )
