"""Keeps a process from forking while one of its threads imports a module of this package, or NumPy.

The child would find the module half made, behind a lock whose owner does not exist there, and wait for ever where it
imports the module itself. Importing loads a compiler and NumPy, which takes long enough to be met; so fork waits. What
Python does before and after a module's own code is not under the lock: a child forgets what it finds in that state.

The package imports this module first, and this module only what every Python has loaded: a child that is forked before
fork is watched waits for ever in Python's own import, as it does for a module of any package.
"""

from __future__ import annotations

import _frozen_importlib as bootstrap
import _frozen_importlib_external as machinery
import _thread
import os
import sys

PATIENCE = 60.0  # seconds; an import that waits for the forking thread would never end

importing = _thread.RLock()  # held by whoever imports
_is_held = _is_installed = False
_complete: set[str] = set()  # the names of modules whose code has run to its end


def _is_guarded(name: str) -> bool:
    return name in (__package__, "numpy") or name.startswith(__package__ + ".")


class _Loader(machinery.SourceFileLoader):
    def exec_module(self, module):
        with importing:
            super().exec_module(module)
            complete(module.__name__)


class _Finder:
    """Finds modules as Python does, with a loader that holds the lock."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not _is_guarded(name):
            return None
        spec = machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is machinery.SourceFileLoader:
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


def _after_fork_in_child():
    if not _is_held:
        importing._at_fork_reinit()  # type: ignore[attr-defined] # as threading does
    _forget_imports_of_other_threads()
    _after_fork()


def _forget_imports_of_other_threads():
    """Modules that the parent's other threads had found but not begun, or run but not let go of."""
    locks = getattr(bootstrap, "_module_locks", {})
    for name in [name for name in locks if _is_guarded(name)]:
        lock = locks[name]()
        if getattr(lock, "owner", None) in (None, _thread.get_ident()):
            continue
        del locks[name]
        module = sys.modules.get(name)
        if module is None:
            continue
        if name in _complete:
            module.__spec__._initializing = False  # type: ignore[union-attr] # importlib's own
        else:
            del sys.modules[name]


def install() -> None:
    """Before the package's other modules are imported."""
    global _is_installed
    if not _is_installed:
        _is_installed = True
        os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
    finders = sys.meta_path
    if _Finder not in finders:
        # Behind the hooks of others, pytest's above all, which rewrites what it loads.
        place = finders.index(machinery.PathFinder) if machinery.PathFinder in finders else len(finders)
        finders.insert(place, _Finder)


complete = _complete.add
