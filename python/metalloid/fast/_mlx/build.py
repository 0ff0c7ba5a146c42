"""Compiles the extension that makes kernels operations of MLX's graph, for the MLX that is installed.

MLX's C++ interface changes from version to version, so no binary that Metalloid could bring along fits them all. MLX's
wheel has its headers and its library, and mx.compile on the CPU needs a C++ compiler on the machine anyway. One file of
C++ takes seconds to compile, once: the result stays in the cache folder, named by all that it depends on.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import shlex
import shutil
import stat
import subprocess
import tempfile

SOURCES = pathlib.Path(__file__).with_name("extension")
FLAGS = ["-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w"]
TIMEOUT = 300  # seconds


class CannotBuild(RuntimeError):
    """The extension cannot be compiled here; the text says why."""


def build_extension(mlx_folder: pathlib.Path, mlx_version: str) -> pathlib.Path:
    """The path of the compiled extension.

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

    key = hashlib.sha256()
    stamp = library.stat()
    for part in (mlx_version, str(stamp.st_size), str(stamp.st_mtime_ns), *command):
        key.update(part.encode() + b"\0")
    for source in ("interface.h", "primitive.cpp"):
        key.update((SOURCES / source).read_bytes())
    with _folder() as folder:
        result = folder / f"{key.hexdigest()[:32]}.so"
        if not _is_ours(result):
            _compile([*command, str(SOURCES / "primitive.cpp"), str(library)], result)
        return result


def _compiler() -> list[str]:
    """$CXX, or the first compiler that there is."""
    chosen = shlex.split(os.environ.get("CXX", ""))
    for candidate in [chosen] if chosen else (["c++"], ["g++"], ["clang++"]):
        found = shutil.which(candidate[0])
        if found:
            return [found, *candidate[1:]]
    raise CannotBuild(f"there is no C++ compiler ({chosen[0] if chosen else 'c++, g++ or clang++'})")


@contextlib.contextmanager
def _folder():
    """The folder in Metalloid's disk cache; where that is off or cannot be written, one for this process."""
    try:
        cache = _cache_folder()
        if cache is not None:
            folder = cache / "mlx"
            _make_folders(folder)
            if _is_our_folder(folder) and os.access(folder, os.W_OK):
                yield folder
                return
    except OSError:
        pass
    global _own_folder
    _own_folder = _own_folder or tempfile.TemporaryDirectory(prefix="metalloid-mlx-")
    yield pathlib.Path(_own_folder.name)


# What is found in the folder is loaded into the process, so nobody else may have been able to write it. The rules are
# those of src/support/private_files.cpp.


def _is_ours(file: pathlib.Path) -> bool:
    try:
        status = os.lstat(file)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _is_our_folder(folder: pathlib.Path) -> bool:
    status, above = os.lstat(folder), os.stat(folder.parent)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        return False
    is_shared = above.st_mode & stat.S_IWOTH
    return above.st_uid in (os.geteuid(), 0) and (not is_shared or bool(above.st_mode & stat.S_ISVTX))


def _make_folders(folder: pathlib.Path) -> None:
    if not folder.parent.exists():
        _make_folders(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


_own_folder: tempfile.TemporaryDirectory[str] | None = None  # removed when the process ends


def _cache_folder() -> pathlib.Path | None:
    """As src/runtime/cache/disk_cache.cpp finds it."""
    if os.environ.get("METALLOID_CACHE") == "0":
        return None
    if chosen := os.environ.get("METALLOID_CACHE_DIR"):
        return pathlib.Path(chosen)
    if (xdg := os.environ.get("XDG_CACHE_HOME", "")).startswith("/"):
        return pathlib.Path(xdg) / "metalloid"
    if home := os.environ.get("HOME"):
        return pathlib.Path(home) / ".cache" / "metalloid"
    return None


def _compile(command: list[str], result: pathlib.Path) -> None:
    # Beside its place and renamed: processes that start together each compile, and none sees half a file.
    descriptor, unfinished = tempfile.mkstemp(prefix="unfinished-", suffix=".so", dir=result.parent)
    os.close(descriptor)
    try:
        run = subprocess.run(
            [*command, "-o", unfinished], capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL
        )
        if run.returncode != 0:
            lines = [line for line in run.stderr.splitlines() if "error" in line] or run.stderr.splitlines()
            raise CannotBuild("it does not compile: " + " / ".join(lines[:3]))
        os.chmod(unfinished, 0o700)
        os.replace(unfinished, result)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(str(error)) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)
