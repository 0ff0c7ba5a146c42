"""``torch.utils.cpp_extension`` for extensions that register operators for MPS, in C++ and Objective-C++.

On a Mac its compiler takes .mm files and finds Metal's headers; here Clang does with Metalloid's headers. Frameworks of
macOS are left out of the linker's command line: what they stand for is in the process.
"""

from __future__ import annotations

import functools
import pathlib
import re
from collections.abc import Iterable
from typing import Any

import torch

from .. import _cpp_files
from .._runners.import_hook import after_import
from ._plugin import device, objective_c

_host = _cpp_files.torch_mps_folder() / "host"
_framework = re.compile(r"(?:^|(?<=\s))-framework\s+\S+")


def install() -> None:
    after_import("torch.utils.cpp_extension", _install)
    original = torch.ops.load_library

    @functools.wraps(original)
    def load_library(path: Any) -> None:
        _prepare(path)
        original(path)

    torch.ops.load_library = load_library


def _prepare(path: Any) -> None:
    """Loads the runtime of Objective-C for a library that needs it."""
    try:
        binary = pathlib.Path(path).read_bytes()
    except (OSError, TypeError):
        return  # the loader says what is wrong with it
    if objective_c.NEEDS_RUNTIME in binary:
        objective_c.load()


def _without_frameworks(flags: Iterable[str] | None) -> list[str]:
    """Also where ``-framework`` and its name are two flags."""
    return _framework.sub("", " ".join(flags or ())).split()


def _install(cpp_extension: Any) -> None:
    write = cpp_extension._write_ninja_file
    get_compiler = cpp_extension.get_cxx_compiler
    load = cpp_extension._import_module_from_library

    @functools.wraps(write)
    def write_ninja_file(path: Any, cflags: Any, post_cflags: Any, *others: Any, **named: Any) -> None:
        device()
        sources = named.get("sources", others[4] if len(others) > 4 else ())
        cflags = [*(cflags or ()), f"-I{_host}", f"-I{_cpp_files.sdk_include_folder()}", "-DFMT_HEADER_ONLY=1"]
        if any(str(source).endswith(".mm") for source in sources):
            own = [flag for flag in objective_c.FLAGS if not flag.startswith("-x")]  # Clang knows .mm and .cpp
            cflags += [*own, *(f"-I{folder}" for folder in objective_c.INCLUDE)]
            compiler = " ".join(objective_c.COMPILER)
            cpp_extension.get_cxx_compiler = lambda: compiler
        if "ldflags" in named:
            named["ldflags"] = _without_frameworks(named["ldflags"])
        elif len(others) > 6:
            others = (*others[:6], _without_frameworks(others[6]), *others[7:])
        try:
            write(path, cflags, post_cflags, *others, **named)
        finally:
            cpp_extension.get_cxx_compiler = get_compiler

    @functools.wraps(load)
    def import_module_from_library(module_name: str, path: str, is_python_module: bool) -> Any:
        for library in pathlib.Path(path).glob(f"{module_name}.*so"):
            _prepare(library)
        return load(module_name, path, is_python_module)

    cpp_extension._write_ninja_file = write_ninja_file
    cpp_extension._import_module_from_library = import_module_from_library
