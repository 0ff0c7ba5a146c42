"""What the runners of Mac scripts share: ``python -m metalloid.mps`` and ``python -m metalloid.mlx``.

A runner is a line in ``runners`` and a package ``metalloid.NAME`` with ``__main__.py``, which calls ``script.main``, and
``_install.py``, whose ``install(module)`` makes the changes. The rest follows from the line: the changes come with the
import of the library (``import_hook``), child processes do the same (``child_processes``, ``startup/sitecustomize.py``),
and pytest has an option ``--metalloid-NAME``.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import NamedTuple

from . import child_processes
from .import_hook import after_import

_active: set[str] = set()
_installed: set[str] = set()


class Runner(NamedTuple):
    """What makes a library behave as on a Mac, and when.

    Attributes:
        name: of the package ``metalloid.NAME``.
        module: with whose import the changes are made.
        landmark: an attribute that the module has when it is complete.
        requirement: what pip installs.
        runs: what scripts find, in words.
        suites: what pytest's option is for.
    """

    name: str
    module: str
    landmark: str
    requirement: str
    runs: str
    suites: str

    @property
    def package(self) -> str:
        return self.module.partition(".")[0]

    @property
    def variable(self) -> str:
        """The environment variable that turns the runner on in child processes."""
        return f"METALLOID_{self.name.upper()}"

    def what_is_missing(self) -> str | None:
        if importlib.util.find_spec(self.package) is not None:
            return None
        return f"needs {self.package}, which {sys.executable} does not have (pip install {self.requirement})"

    def activate(self) -> None:
        """At once if the module is there already, else when it is imported. Does nothing if it was called before."""
        if self.name not in _active:
            _active.add(self.name)
            after_import(self.module, self._install)
            atexit.register(self._say_if_in_vain, os.getpid())

    def activate_child_processes(self) -> None:
        child_processes.turn_on(self.variable)

    def is_wanted(self) -> bool:
        """Whether the process that started this one asks for it."""
        return os.environ.get(self.variable, "0") not in ("", "0")

    def _install(self, module: ModuleType) -> None:
        importlib.import_module(f"metalloid.{self.name}._install").install(module)
        _installed.add(self.name)

    def _say_if_in_vain(self, process: int) -> None:
        """An import hook of somebody else's that came first and loaded the module itself."""
        module = sys.modules.get(self.module)
        if module is None or not hasattr(module, self.landmark) or self.name in _installed or os.getpid() != process:
            return
        loader = type(getattr(module.__spec__, "loader", None)).__name__
        print(
            f"metalloid: {self.variable} had no effect: {self.module} was imported by {loader}, which an import hook in "
            "front of Metalloid's chose",
            file=sys.stderr,
        )


_runners = (
    Runner(
        "mps", "torch", "Tensor", "torch", "torch's device mps",
        "written for PyTorch on a Mac: device 'mps' exists, its kernels run on Metalloid",
    ),
    Runner(
        "mlx", "mlx.core", "array", "'mlx[cpu]'", "MLX's gpu",
        "written for MLX on a Mac: mx.gpu exists, kernels of mx.fast.metal_kernel run on Metalloid",
    ),
    Runner(
        "objc", "ctypes", "CDLL", "", "Metal's libraries for ctypes",
        "that speak to Metal by ctypes: Apple's libraries are Metalloid's",
    ),
)  # fmt: skip
runners = {runner.name: runner for runner in _runners}
