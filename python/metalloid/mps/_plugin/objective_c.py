"""Host files in Objective-C++ (.mm): how they are compiled, and what of PyTorch they need.

Headers and runtime are those of Metal's host API (src/metal); the compiler is Clang. What PyTorch declares for Objective-C alone
(torch_mps/host/objc) is compiled and loaded when the first library that needs it is.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil

from ... import _cpp_files
from .compile import Unit, build, newest_clang
from .loading import file_in_memory, load_path
from .wheel import CannotBuild

_home = _cpp_files.torch_mps_folder()

INCLUDE = (_cpp_files.sdk_include_folder(), _home / "host")
FLAGS = (
    "-xobjective-c++", "-fobjc-runtime=objfw", "-fblocks", "-fconstant-string-class=NSConstantString",
)  # fmt: skip
NEEDS_RUNTIME = b"__objc_exec_class"  # in every library that has Objective-C


@functools.lru_cache(maxsize=1)
def _clang() -> tuple[str, ...]:
    """$OBJCXX, or the newest Clang that there is."""
    chosen = shlex.split(os.environ.get("OBJCXX", ""))
    if chosen:
        return (shutil.which(chosen[0]) or chosen[0], *chosen[1:])
    if found := newest_clang():
        return (found,)
    raise CannotBuild("Objective-C++ needs Clang, and there is no clang++ (Debian: apt install clang)")


def __getattr__(name: str) -> tuple[str, ...]:
    """COMPILER is looked for when it is asked for."""
    if name == "COMPILER":
        return _clang()
    raise AttributeError(name)


def units() -> list[Unit]:
    """The sources of what PyTorch declares for Objective-C."""
    folder = _home / "host" / "objc"
    return [Unit(path, (*INCLUDE, _home), FLAGS, _clang()) for path in sorted(folder.glob("*.mm"))]


@functools.lru_cache(maxsize=1)
def load() -> str:
    """Loads that; the device must have been loaded before.

    Returns:
        The library's place in this process.
    """
    name = "libmetalloid_objective_c.so"
    announce = "metalloid: compiling what Objective-C++ files need, once; this takes some seconds"
    path = file_in_memory(name, build(name, units(), announce))
    load_path(path, os.RTLD_NOW | os.RTLD_GLOBAL)
    return path
