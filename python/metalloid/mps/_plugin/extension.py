"""The compiled device, as Python calls it (torch_mps/device/entry.cpp)."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

from ... import _cpp_files
from .wheel import CannotBuild


class Device:
    """The extension, once it is loaded.

    Args:
        path: of the shared library.

    Raises:
        CannotBuild: it cannot be loaded into this torch; the text says why.
    """

    def __init__(self, path: str) -> None:
        try:
            # What stands on Metal's objects finds them here, and operators the host library.
            ctypes.CDLL(str(_cpp_files.metal_library()), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
            self._library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_GLOBAL)
        except OSError as error:
            raise CannotBuild(str(error)) from None
        for name in ("start", "fallbacks"):
            getattr(self._library, f"metalloid_torch_{name}").restype = ctypes.c_char_p
        self._library.metalloid_torch_launches.restype = ctypes.c_uint64
        self._library.metalloid_torch_current_stream.restype = ctypes.c_int64
        self._library.metalloid_torch_set_current_stream.argtypes = [ctypes.c_int64]
        self.start()

    def start(self) -> None:
        """Puts the device's functions in the place of torch's, in all libraries of torch and of operators so far."""
        if (problem := self._library.metalloid_torch_start()) is not None:
            raise CannotBuild(problem.decode())

    def finish_backward(self) -> None:
        """Waits until autograd's thread is done with what Python can see."""
        self._library.metalloid_torch_finish_backward()

    def set_macos_version(self, major: int, minor: int) -> None:
        self._library.metalloid_torch_set_macos_version(major, minor)

    def current_stream(self) -> int:
        return self._library.metalloid_torch_current_stream()

    def set_current_stream(self, number: int) -> None:
        self._library.metalloid_torch_set_current_stream(number)

    def fallbacks(self) -> dict[str, int]:
        """How often operators ran on the CPU since the start or reset_fallbacks, by name ("aten::sum.dim_IntList")."""
        lines = self._library.metalloid_torch_fallbacks().decode().splitlines()
        return {name: int(calls) for name, calls in (line.rsplit(" ", 1) for line in lines)}

    def reset_fallbacks(self) -> None:
        self._library.metalloid_torch_reset_fallbacks()

    def launches(self) -> int:
        """How many Metal kernels operators have launched since the start."""
        return self._library.metalloid_torch_launches()

    def set_operators_of_pytorch(self, names: Iterable[str]) -> None:
        self._library.metalloid_torch_set_operators_of_pytorch("\n".join(names).encode())
