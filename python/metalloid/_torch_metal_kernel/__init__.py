"""TorchMetalKernel: a Metal kernel as a torch custom operator, with the interface of Core AI's class.

``kernel`` has the class; ``checks`` refuses wrong declarations, ``source`` writes the Metal source, ``run`` launches it,
``verify`` compares its results with torch's, ``convert`` hands kernels to Core AI's converter, ``coreai_calls`` verifies
the calls of Core AI's own class.
"""

from typing import Any

_homes = {"MetalParameter": "source", "TorchMetalKernel": "kernel", "VerificationError": "verify"}


def __getattr__(name: str) -> Any:
    """When it is asked for: the source alone needs no torch."""
    if name not in _homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_homes[name]}", __name__), name)
