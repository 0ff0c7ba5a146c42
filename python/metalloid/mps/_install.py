"""What the runner does once torch has been imported."""

from __future__ import annotations

import atexit
import os
import warnings
from types import ModuleType

from . import _plugin, backend
from ._plugin import known_operators


def install(_: ModuleType) -> None:
    """Raises ImportError: the device cannot be made here; the text says why."""
    try:
        device = _plugin.device()
    except _plugin.CannotBuild as error:
        raise ImportError(f"Metalloid's device mps is not available: {error}") from None
    try:
        _plugin.own_operators()
    except _plugin.CannotBuild as error:
        warnings.warn(f"all operators on mps run on the CPU: {error}", RuntimeWarning, stacklevel=2)
    backend.install(device)
    device.set_operators_of_pytorch(known_operators.operators_of_pytorch())
    atexit.register(device.finish_backward)
    if os.environ.get("METALLOID_ATEN"):
        from ..aten import loading

        loading.load_those_of_the_environment()
