"""Calls install() right after some module imports mlx.core, in processes that may never do so: this one and those that
it starts."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from .._child_processes import turn_on


class _InstallingLoader(importlib.abc.Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        from ._install import install

        install(module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self._is_asking_others = False

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "mlx.core" or self._is_asking_others:
            return None
        self._is_asking_others = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._is_asking_others = False
        if spec is not None and spec.loader is not None:
            spec.loader = _InstallingLoader(spec.loader)
        return spec


def activate() -> None:
    """At once if MLX is there already, else when it is imported. Does nothing if it was called before."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "mlx.core" in sys.modules:
        from ._install import install

        install(sys.modules["mlx.core"])
    else:
        sys.meta_path.insert(0, _Finder())


def activate_child_processes() -> None:
    turn_on("METALLOID_MLX")
