"""What changes for programs that speak to Metal by ctypes, and nothing else does.

==========================  =========================================================================================
ctypes.CDLL                 a path of Apple's (/usr/lib/libobjc.dylib, /System/Library/Frameworks/Metal.framework/Metal)
                            that is not there is the library of that name of the SDK (`metalloid sdk path`)
ctypes.CDLL(None)           has its functions, too, as the libraries of a Mac's system have them (sysctlbyname)
ctypes.util.find_library    finds these by their names
platform.mac_ver            macOS 15.0 on arm64
LD_LIBRARY_PATH             has the SDK's libraries, for programs that look through it themselves
==========================  =========================================================================================
"""

from __future__ import annotations

import ctypes.util
import functools
import os
import pathlib
import platform
import re
import subprocess
from types import ModuleType
from typing import Any

from ..__main__ import command_line

_apples = re.compile(r"^(?:/usr/lib/(?:system/)?lib|/System/Library/(?:Private)?Frameworks/)(\w+)[./]")


def install(module: ModuleType) -> None:
    """Changes ctypes, in this process and from now on."""
    libraries = pathlib.Path(subprocess.check_output([command_line(), "sdk", "path"], text=True).strip()) / "lib"

    def of_sdk(name: str) -> str | None:
        library = libraries / f"lib{name}.so"
        return str(library) if library.exists() else None

    original_init = module.CDLL.__init__
    original_find = ctypes.util.find_library

    @functools.wraps(original_init)
    def init(self: Any, name: Any, *arguments: Any, **options: Any) -> None:
        apples = _apples.match(name) if isinstance(name, str) and not os.path.exists(name) else None
        original_init(self, of_sdk(apples[1]) or name if apples else name, *arguments, **options)

    @functools.wraps(original_find)
    def find_library(name: str) -> str | None:
        return of_sdk(name) or original_find(name)

    module.CDLL.__init__ = init
    module.CDLL(str(libraries / "libmetalloid_metal.so"), mode=module.RTLD_GLOBAL)
    ctypes.util.find_library = find_library
    platform.mac_ver = lambda *_, **__: ("15.0", ("", "", ""), "arm64")
    before = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = f"{libraries}:{before}" if before else str(libraries)
