"""Turns the emulation on in this process, as soon as torch has been imported, and in those that it starts."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

from .._child_processes import turn_on


def _install() -> None:
    from . import backend, device_mode

    backend.install()
    device_mode.install()


class _AfterImport(importlib.abc.Loader):
    """torch's own loader, and the installation behind it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: Any) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _install()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _TorchFinder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch":
            return None
        # Stays for later: programs ask for a spec to see whether torch is there, and import it afterwards.
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _AfterImport(spec.loader)
        return spec


_is_active = False


def install_on_import() -> None:
    """At once if torch is there already, else when it is imported. Does nothing if it was called before."""
    global _is_active
    if _is_active:
        return
    _is_active = True
    if "torch" in sys.modules:
        _install()
    else:
        sys.meta_path.insert(0, _TorchFinder())


def activate_child_processes() -> None:
    turn_on("METALLOID_MPS")
