"""What the runner does once torch has been imported."""

from __future__ import annotations

import atexit
from types import ModuleType

from . import _plugin, backend
from ._plugin import known_operators


def install(_: ModuleType) -> None:
    """Raises ImportError: the device cannot be made here; the text says why."""
    try:
        device = _plugin.device()
        _plugin.own_operators()
    except _plugin.CannotBuild as error:
        raise ImportError(f"Metalloid's device mps is not available: {error}") from error
    backend.install(device)
    device.set_operators_of_pytorch(known_operators.operators_of_pytorch())
    atexit.register(device.finish_backward)
