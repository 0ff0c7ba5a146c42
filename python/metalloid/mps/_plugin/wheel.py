"""What the installed torch has for compiling against it, and what is missing."""

from __future__ import annotations

import functools
import pathlib
from typing import NamedTuple

import torch


class CannotBuild(RuntimeError):
    """The device cannot be compiled or loaded here; the text says why."""


class Wheel(NamedTuple):
    """The parts of the installed torch.

    Attributes:
        include: the folders of its headers.
        libraries: the folder of its shared libraries.
        stamp: changes when another build of torch is installed.
    """

    include: tuple[pathlib.Path, ...]
    libraries: pathlib.Path
    stamp: str

    @property
    def flags(self) -> list[str]:
        return [f"-I{folder}" for folder in self.include]


@functools.lru_cache(maxsize=1)
def installed() -> Wheel:
    """Raises CannotBuild: it has no headers or no library."""
    folder = pathlib.Path(torch.__file__).resolve().parent
    include, library = folder / "include", folder / "lib" / "libtorch_cpu.so"
    if not (include / "ATen" / "mps" / "MPSGeneratorImpl.h").is_file():
        raise CannotBuild(f"torch {torch.__version__} in {folder} has no headers of the device mps (include/ATen/mps)")
    if not library.is_file():
        raise CannotBuild(f"torch {torch.__version__} in {folder} has no lib/libtorch_cpu.so")
    if not torch._C._GLIBCXX_USE_CXX11_ABI:
        raise CannotBuild(f"torch {torch.__version__} was compiled with the C++ ABI of before GCC 5")
    status = library.stat()
    stamp = f"{torch.__version__} {torch.version.git_version} {status.st_size} {status.st_mtime_ns}"
    return Wheel((include, include / "torch" / "csrc" / "api" / "include"), library.parent, stamp)
