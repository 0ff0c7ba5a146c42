"""What the runner does once torch has been imported."""

from __future__ import annotations

from types import ModuleType

from . import backend, device_mode


def install(_: ModuleType) -> None:
    backend.install()
    device_mode.install()
