"""``metalloid aten build``: a folder of operators into a library, with errors in the contributor's own files."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from ..mps._plugin import CannotBuild, compile, device, operators, shaders
from . import libraries


class Built(NamedTuple):
    """A folder's library.

    Attributes:
        operators: what was compiled.
        kernels: names of the Metal kernels by source.
        name: of the shared library.
        binary: its content.
    """

    operators: operators.Operators
    kernels: dict[pathlib.Path, list[str]]
    name: str
    binary: bytes


def build(folder: str | os.PathLike[str], names: Sequence[str] = ()) -> Built:
    """Compiles registrations, host files and Metal sources, and loads the library to see that nothing is missing.

    Raises:
        YamlError, FolderError, ShaderError, CannotBuild: what is wrong, with file and line.
    """
    prepared = operators.prepare(operators.find(folder), names)
    kernels, logs = {}, []
    for shader in prepared.shaders:
        try:
            kernels[shader.file] = shaders.check(shader)
        except shaders.ShaderError as error:
            logs.append(str(error).rstrip())
    if logs:
        raise shaders.ShaderError("\n".join(logs))
    name = f"lib{pathlib.Path(folder).resolve().name}_operators.so"
    said = f"metalloid: compiling {len(prepared.units)} files of {folder}"
    units = [*prepared.units, libraries.described(prepared.generated)]
    built = Built(prepared, kernels, name, compile.build(name, units, said))
    load(built)
    return built


def load(built: Built) -> None:
    """Loads the library into the device.

    Raises:
        CannotBuild: a function that an entry dispatches to is in no file.
    """
    device()
    try:
        libraries.put(built.name, built.binary)
    except CannotBuild as error:
        raise CannotBuild(_undefined(str(error), built)) from None


def _undefined(message: str, built: Built) -> str:
    """The dynamic linker's words, with the place of the entry that asks for the function."""
    found = re.search(r"undefined symbol: (\S+)", message)
    if not found:
        return message
    for function in built.operators.generated.functions:
        kernel = function.kernel.rpartition("::")[2]
        if f"{len(kernel)}{kernel}" in found[1]:  # as C++ mangles names
            return (
                f"{function.place}: '{function.name}' dispatches {function.key} to {kernel.removeprefix('structured_')}, "
                f"which no file of the folder defines with the arguments of the schema"
            )
    return f"no file that is compiled defines {_readable(found[1])}, nor does Metalloid's host library"


def _readable(symbol: str) -> str:
    """A C++ name as it is written."""
    try:
        runtime = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return symbol
    runtime.__cxa_demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    text = runtime.__cxa_demangle(symbol.encode(), None, None, ctypes.byref(status))
    if not text:
        return symbol
    name = ctypes.string_at(text).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(text))
    return name


def report(built: Built) -> None:
    """Says what was built."""
    generated = built.operators.generated
    for note in generated.notes:
        print(note, file=sys.stderr)
    for function in generated.functions:
        if function.key == "MPS":
            print(f"{', '.join(function.registers)}: {function.kernel.rpartition('::')[2].removeprefix('structured_')}")
    for file, names in built.kernels.items():
        print(f"{file}: {len(names)} Metal kernels")
