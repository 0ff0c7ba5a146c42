"""Compiles the extension that makes kernels operations of MLX's graph, for the MLX that is installed.

MLX's C++ interface changes from version to version, so no binary that Metalloid could bring along fits them all. MLX's
wheel has its headers and its library, and mx.compile on the CPU needs a C++ compiler on the machine anyway. One file of
C++ takes seconds to compile, once: the result stays in Metalloid's cache, under all that it depends on.
"""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

from ... import _core

SOURCES = pathlib.Path(__file__).with_name("extension")
FLAGS = ["-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w"]
TIMEOUT = 300  # seconds


class CannotBuild(RuntimeError):
    """The extension cannot be compiled here; the text says why."""


def build_extension(mlx_folder: pathlib.Path, mlx_version: str) -> bytes:
    """The compiled extension, a shared library.

    Args:
        mlx_folder: the package mlx, with include/ and lib/.
        mlx_version: as mlx.core says.

    Raises:
        CannotBuild: no headers, no compiler, or the compiler's errors.
    """
    headers, library = mlx_folder / "include", mlx_folder / "lib" / "libmlx.so"
    if not (headers / "mlx" / "primitives.h").is_file() or not library.is_file():
        raise CannotBuild(f"{mlx_folder} has no headers or no lib/libmlx.so")
    compiler = _compiler()
    command = [*compiler, *FLAGS, f"-I{headers}", f"-Wl,-rpath,{library.parent}"]

    stamp = library.stat()
    parts = [part.encode() for part in (mlx_version, str(stamp.st_size), str(stamp.st_mtime_ns), *command)]
    parts += [(SOURCES / source).read_bytes() for source in ("interface.h", "primitive.cpp")]
    key = b"\0".join(parts)
    binary = _core.read_cached_extension(key)
    if binary is None:
        binary = _compile([*command, str(SOURCES / "primitive.cpp"), str(library)])
        _core.write_cached_extension(key, binary)
    return binary


def _compiler() -> list[str]:
    """$CXX, or the first compiler that there is."""
    chosen = shlex.split(os.environ.get("CXX", ""))
    for candidate in [chosen] if chosen else (["c++"], ["g++"], ["clang++"]):
        found = shutil.which(candidate[0])
        if found:
            return [found, *candidate[1:]]
    raise CannotBuild(f"there is no C++ compiler ({chosen[0] if chosen else 'c++, g++ or clang++'})")


def _compile(command: list[str]) -> bytes:
    try:
        with tempfile.TemporaryDirectory(prefix="metalloid-mlx-") as folder:
            result = pathlib.Path(folder) / "extension.so"
            run = subprocess.run(
                [*command, "-o", str(result)],
                capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            if run.returncode != 0:
                lines = [line for line in run.stderr.splitlines() if "error" in line] or run.stderr.splitlines()
                raise CannotBuild("it does not compile: " + " / ".join(lines[:3]))
            return result.read_bytes()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(str(error)) from error
