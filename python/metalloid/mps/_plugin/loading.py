"""Shared libraries that exist in memory only, into the process."""

from __future__ import annotations

import ctypes
import os
import re

from .wheel import CannotBuild


def load_path(path: str, mode: int) -> None:
    """As torch.ops.load_library, which wants files that have a path.

    Raises:
        CannotBuild: it cannot be loaded; the text names what is missing.
    """
    try:
        ctypes.CDLL(path, mode=mode)
    except OSError as error:
        found = re.search(r"undefined symbol: (?:__objc_class_name_|_OBJC_CLASS_)(\w+)", str(error))
        said = f"there is no Objective-C class {found[1]} in Metalloid's Foundation and Metal" if found else str(error)
        raise CannotBuild(said) from None


def file_in_memory(name: str, binary: bytes) -> str:
    """Its path. It stays open: the dynamic linker knows libraries by their paths, which must not come again."""
    file = os.memfd_create(name)
    with os.fdopen(os.dup(file), "wb") as copy:
        copy.write(binary)
    return f"/proc/{os.getpid()}/fd/{file}"
