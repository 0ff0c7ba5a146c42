"""Calls install() right after some module imports mlx.core, in processes that may never do so: this one and those that
it starts."""

from __future__ import annotations

from types import ModuleType

from .._child_processes import turn_on
from .._import_hook import after_import


def _install(module: ModuleType) -> None:
    from ._install import install

    install(module)


def activate() -> None:
    """At once if MLX is there already, else when it is imported. Does nothing if it was called before."""
    after_import("mlx.core", _install)


def activate_child_processes() -> None:
    turn_on("METALLOID_MLX")
