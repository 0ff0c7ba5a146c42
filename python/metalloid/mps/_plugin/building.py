"""The device mps with PyTorch's host library, and Metalloid's operators behind it, compiled for the torch that is installed.

Both are made at the same time: the device's objects are compiled while torchgen writes the operators' registrations.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import torch

from ... import _core, _cpp_files
from . import prebuilt
from .batches import in_batches
from .compile import Unit, Workshop
from .wheel import CannotBuild, installed

_home = _cpp_files.torch_mps_folder()


def device_units() -> list[Unit]:
    """The sources of the device and of PyTorch's host library."""
    folders = (_home / "device", _home / "host")
    files = [file for folder in folders for file in sorted(folder.glob("*.cpp"))]
    return in_batches([Unit(file, (_home, _home / "host", _cpp_files.sdk_include_folder())) for file in files])


def operator_units() -> list[Unit]:
    """The sources of Metalloid's operators. torchgen is asked for them, which takes seconds.

    Raises:
        CannotBuild: it has no registrations for them.
    """
    from . import operators

    try:
        return operators.prepare(operators.find(_home / "operators"), together=True).units
    except (operators.FolderError, operators.YamlError) as error:
        raise CannotBuild(str(error)) from error


def build(announce: str = "") -> Mapping[str, bytes | CannotBuild]:
    """Both libraries, by name, from the cache if they are there; for the operators an error does, too.

    Args:
        announce: said before what is said before the first object is compiled.

    Raises:
        CannotBuild: the device cannot be compiled here; the text says why.
    """
    said = f"metalloid: compiling the device mps for torch {torch.__version__}, once; this takes about a minute"
    said = f"metalloid: {announce}\n{said}" if announce else said
    installed()
    try:
        # torchgen in this thread: torch, which it imports, may be just being imported.
        with Workshop() as workshop, ThreadPoolExecutor(1) as thread:
            device = thread.submit(workshop.build, prebuilt.DEVICE, device_units(), said)
            try:
                operators: bytes | CannotBuild = _operators(workshop, said)
            except CannotBuild as error:
                operators = error
            return {prebuilt.DEVICE: device.result(), prebuilt.OPERATORS: operators}
    except CannotBuild as error:
        raise CannotBuild(f"{error}\n{announce}") if announce else error from None


def _operators(workshop: Workshop, announce: str) -> bytes:
    """Found by their sources, where they were compiled before: without asking torchgen."""
    key = b"\0".join([b"own operators", str(_home).encode(), installed().stamp.encode(), prebuilt.hash_of_sources().encode()])
    binary = _core.read_cached_extension(key)
    if binary is None:
        binary = workshop.build(prebuilt.OPERATORS, operator_units(), announce)
        _core.write_cached_extension(key, binary)
    return binary
