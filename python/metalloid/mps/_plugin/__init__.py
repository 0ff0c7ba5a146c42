"""The compiled parts of the device "mps": made for the torch that is installed, on first use, and loaded.

=================  =========================================================================================
wheel.py           what the installed torch offers to compile against
extension.py       the device, as Python calls it
loading.py         libraries in memory
compile.py         C++ and Objective-C++ to a shared library, object by object from the cache
objective_c.py     how Objective-C++ is compiled, and its runtime
generate.py        entries of native_functions.yaml to registrations, with entries.py, registrations.py and derivatives.py
sources.py         what the texts of C++ and Metal sources tell
shaders.py         Metal sources to headers of host files
operators.py       a folder of operators to a shared library
known_operators.py what PyTorch has for MPS
=================  =========================================================================================
"""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib

import torch

from ... import _core, _cpp_files
from .compile import Unit, build
from .extension import Device
from .loading import file_in_memory, load_path
from .wheel import CannotBuild, installed

__all__ = ["CannotBuild", "device", "load_library", "own_operators"]

_home = _cpp_files.torch_mps_folder()
_name = "metalloid_torch"
_compiled = {".cpp", ".h", ".metal", ".py", ".yaml"}


def device_units() -> list[Unit]:
    """The sources of the device and of PyTorch's host library."""
    folders = (_home / "device", _home / "host")
    return [Unit(path, (_home, _home / "host")) for folder in folders for path in sorted(folder.glob("*.cpp"))]


@functools.lru_cache(maxsize=1)
def device() -> Device:
    """Makes "mps" a device of this process, once.

    Raises:
        CannotBuild: that is not possible here; the text says why.
    """
    announce = f"metalloid: compiling the device mps for torch {torch.__version__}, once; this takes some minutes"
    binary = build(f"lib{_name}.so", device_units(), announce)
    try:
        return Device(file_in_memory(_name, binary))
    except CannotBuild as error:
        raise CannotBuild(f"the device mps cannot be loaded into torch {torch.__version__}: {error}") from None


@functools.lru_cache(maxsize=1)
def own_operators() -> None:
    """Loads the operators that Metalloid has Metal kernels for (torch_mps/operators/), behind the device, once.

    Raises:
        CannotBuild: they cannot be compiled here; the text says why.
    """
    folder = _home / "operators"
    digest = hashlib.sha256(installed().stamp.encode())
    for place in (_home, pathlib.Path(__file__).parent):
        for path in sorted(path for path in place.rglob("*") if path.suffix in _compiled and path.is_file()):
            digest.update(str(path.relative_to(place)).encode() + b"\0" + path.read_bytes())
    key = b"own operators\0" + str(_home).encode() + digest.digest()
    binary = _core.read_cached_extension(key)
    if binary is None:  # torchgen is asked then, which takes seconds
        from . import operators

        said = f"metalloid: compiling Metalloid's operators for torch {torch.__version__}, once; this takes some minutes"
        _, binary = operators.library(folder, announce=said)
        _core.write_cached_extension(key, binary)
    try:
        load_library("libmetalloid_operators.so", binary)
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
