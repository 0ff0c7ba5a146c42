"""Keeps a process from forking while one of its threads imports a module of this package.

The child would find the module half made, behind a lock whose owner does not exist there, and wait for ever where it
imports the module itself. Importing loads a compiler and NumPy, which takes long enough to be met; so fork waits.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import threading

PATIENCE = 60.0  # seconds; an import that waits for the forking thread would never end

importing = threading.RLock()  # held by whoever imports
_is_held = False


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        with importing:
            super().exec_module(module)


class _Finder:
    """Finds the package's modules as Python does, with a loader that holds the lock."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith(__package__ + "."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def _before_fork():
    global _is_held
    _is_held = importing.acquire(timeout=PATIENCE)


def _after_fork():
    global _is_held
    if _is_held:
        _is_held = False
        importing.release()


def install() -> None:
    """Once, before the package's other modules are imported."""
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
    finders = sys.meta_path
    # Behind the hooks of others, pytest's above all, which rewrites what it loads.
    place = finders.index(importlib.machinery.PathFinder) if importlib.machinery.PathFinder in finders else len(finders)
    finders.insert(place, _Finder)
