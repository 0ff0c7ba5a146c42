"""The compiled parts of the device "mps": made for the torch that is installed, on first use, and loaded.

=================  =========================================================================================
wheel.py           what the installed torch offers to compile against
prebuilt.py        what was compiled elsewhere, if it fits
building.py        the device and Metalloid's operators, compiled together
extension.py       the device, as Python calls it
loading.py         libraries in memory
compile.py         C++ and Objective-C++ to a shared library, object by object from the cache
batches.py         several sources as one
objective_c.py     how Objective-C++ is compiled, and its runtime
generate.py        entries of native_functions.yaml to registrations, with entries.py, registrations.py and derivatives.py
structured.py      what classes of structured kernels have in common
sources.py         what the texts of C++ and Metal sources tell
shaders.py         Metal sources to headers of host files
operators.py       what is compiled of a folder of operators
known_operators.py what PyTorch has for MPS
=================  =========================================================================================
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping

import torch

from . import building, prebuilt
from .extension import Device
from .loading import file_in_memory, load_path
from .wheel import CannotBuild

__all__ = ["CannotBuild", "device", "load_library", "own_operators"]


@functools.lru_cache(maxsize=1)
def _libraries() -> Mapping[str, bytes | CannotBuild]:
    """The device and Metalloid's operators, by name; in the place of the latter, why there are none.

    Raises:
        CannotBuild: there is no device.
    """
    found = prebuilt.read()
    return found.libraries or building.build(found.problem)


def _library(name: str) -> bytes:
    binary = _libraries()[name]
    if isinstance(binary, CannotBuild):
        raise binary
    return binary


@functools.lru_cache(maxsize=1)
def device() -> Device:
    """Makes "mps" a device of this process, once.

    Raises:
        CannotBuild: that is not possible here; the text says why.
    """
    binary = _library(prebuilt.DEVICE)
    try:
        return Device(file_in_memory("metalloid_torch", binary))
    except CannotBuild as error:
        raise CannotBuild(f"the device mps cannot be loaded into torch {torch.__version__}: {error}") from None


@functools.lru_cache(maxsize=1)
def own_operators() -> None:
    """Loads the operators that Metalloid has Metal kernels for (torch_mps/operators/), behind the device, once.

    Raises:
        CannotBuild: they cannot be compiled here; the text says why.
    """
    binary = _library(prebuilt.OPERATORS)
    try:
        load_library(prebuilt.OPERATORS, binary)
    except CannotBuild as error:
        raise CannotBuild(f"Metalloid's operators cannot be loaded into torch {torch.__version__}: {error}") from error


def load_library(name: str, binary: bytes) -> None:
    """Loads operators, which register themselves.

    Raises:
        CannotBuild: it cannot be loaded; the text names what is missing.
    """
    from . import objective_c

    device()
    if objective_c.NEEDS_RUNTIME in binary:
        objective_c.load()
    load_path(file_in_memory(name, binary), os.RTLD_NOW)
    device().start()  # of operators that call stubs of their own
