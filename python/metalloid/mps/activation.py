"""Turns the emulation on in this process, as soon as torch has been imported, and in those that it starts."""

from __future__ import annotations

import atexit
import os
import sys
from types import ModuleType

from .._child_processes import turn_on
from .._import_hook import after_import

_is_active = _is_installed = False


def _install(_: ModuleType) -> None:
    global _is_installed
    from . import backend, device_mode

    backend.install()
    device_mode.install()
    _is_installed = True


def _say_if_in_vain(process: int) -> None:
    """An import hook of somebody else's that came first and loaded torch itself."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor") or _is_installed or os.getpid() != process:
        return
    loader = type(getattr(torch.__spec__, "loader", None)).__name__
    print(
        f"metalloid: METALLOID_MPS had no effect: torch was imported by {loader}, which an import hook in front of "
        "Metalloid's chose",
        file=sys.stderr,
    )


def install_on_import() -> None:
    """At once if torch is there already, else when it is imported. Does nothing if it was called before."""
    global _is_active
    if _is_active:
        return
    _is_active = True
    after_import("torch", _install)
    atexit.register(_say_if_in_vain, os.getpid())


def activate_child_processes() -> None:
    turn_on("METALLOID_MPS")
