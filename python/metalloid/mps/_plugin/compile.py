"""C++ sources to a shared library: objects are compiled side by side, and each is kept in Metalloid's cache."""

from __future__ import annotations

import concurrent.futures
import fcntl
import functools
import hashlib
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ... import _core, _cpp_files
from .wheel import CannotBuild, installed

# Of the wheel: libraries that call stubs must agree with it on their form.
STUBS = ("AVX2", "AVX512") if platform.machine() in ("x86_64", "AMD64") else ()
# All sources have the same ones, as far as can be: they share what the compiler has read of torch (_PREFIX).
FLAGS = [
    "-std=c++20", "-O2", "-g0", "-fPIC", "-w", "-DUSE_MPS", "-DPYTORCH_JIT_COMPILE_SHADERS", "-DAT_PER_OPERATOR_HEADERS",
    "-DFMT_HEADER_ONLY=1", *(f"-DHAVE_{level}_CPU_DEFINITION" for level in STUBS),
]  # fmt: skip
TIMEOUT = 600  # seconds an object may take
# Folders of torch_mps/ whose headers only files beside them include.
_NEVER_NAMED = {"operators", "objc"}
# Most of an object's time is torch's headers. Those that nearly all sources include are read once for them.
_PREFIX = """#include <ATen/TensorIterator.h>
#include <ATen/Utils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/Resize.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <torch/library.h>
"""
_WORTH_A_PREFIX = 4  # objects


class Unit(NamedTuple):
    """What is compiled to one object.

    Attributes:
        source: the file; a relative path is one of ``texts``.
        include: folders of headers besides torch's and Metalloid's, searched first.
        flags: more of the compiler's.
        compiler: the command; the first C++ compiler there is, if empty.
        texts: files that were generated, by path as in #include; searched before all folders.
    """

    source: pathlib.Path
    include: tuple[pathlib.Path, ...] = ()
    flags: tuple[str, ...] = ()
    compiler: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


def build(name: str, units: Sequence[Unit], announce: str = "") -> bytes:
    """The shared library of these sources.

    Args:
        name: its SONAME, "libX.so".
        announce: said on standard error before the first object is compiled.

    Raises:
        CannotBuild: there is no compiler, or the compiler's own errors, which name file and line.
    """
    compiler = _compiler()
    link = [*compiler, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-Wl,-z,now"]
    libraries = [
        f"-L{installed().libraries}", "-ltorch", "-ltorch_cpu", "-lc10",
        f"-Wl,-rpath,{installed().libraries}", str(_cpp_files.library()), f"-Wl,-rpath,{_cpp_files.library().parent}",
    ]  # fmt: skip
    keys = [_key(unit) for unit in units]
    whole = b"\0".join([b"library", *(argument.encode() for argument in (*link, *libraries)), *keys])
    if (binary := _core.read_cached_extension(whole)) is not None:
        return binary
    with _once(whole), tempfile.TemporaryDirectory(prefix="metalloid-") as folder:
        if (binary := _core.read_cached_extension(whole)) is not None:  # another process made it meanwhile
            return binary
        objects = _objects(units, keys, pathlib.Path(folder), announce)
        result = pathlib.Path(folder) / name
        _run([*link, *map(str, objects), *libraries, "-o", str(result)])
        binary = result.read_bytes()
    _core.write_cached_extension(whole, binary)
    if announce and _core.read_cached_extension(whole) is None:
        print(
            "metalloid: what was compiled cannot be kept, so that it is compiled each time: Metalloid's cache folder "
            "($METALLOID_CACHE_DIR, or metalloid in $XDG_CACHE_HOME or ~/.cache) cannot be written or is too small",
            file=sys.stderr,
        )
    return binary


def _objects(units: Sequence[Unit], keys: Sequence[bytes], folder: pathlib.Path, announce: str) -> list[pathlib.Path]:
    objects = [folder / f"{index}.o" for index in range(len(units))]
    missing = []
    for unit, key, path in zip(units, keys, objects, strict=True):
        binary = _core.read_cached_extension(key)
        if binary is None:
            missing.append((unit, key, path))
        else:
            path.write_bytes(binary)
    if missing and announce:
        print(announce, file=sys.stderr, flush=True)

    def make(job: tuple[Unit, bytes, pathlib.Path]) -> None:
        unit, key, path = job
        texts = path.with_suffix(".texts")
        for name, text in unit.texts:
            (texts / name).parent.mkdir(parents=True, exist_ok=True)
            (texts / name).write_text(text)
        first = [f"-I{texts}", f"-ffile-prefix-map={texts}="] if unit.texts else []
        if not unit.compiler and unit.flags in prefixes:
            first += ["-include", str(prefixes[unit.flags])]
        _run([*_command(unit, first), "-c", str(texts / unit.source), "-o", str(path)])
        _core.write_cached_extension(key, path.read_bytes())

    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        try:
            flags = Counter(unit.flags for unit, _, _ in missing if not unit.compiler)
            shared = [each for each, count in flags.items() if count >= _WORTH_A_PREFIX]
            prefixes = dict(zip(shared, pool.map(functools.partial(_prefix, folder), shared, range(len(shared))), strict=True))
            for job in [pool.submit(make, job) for job in missing]:
                job.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return objects


def _prefix(folder: pathlib.Path, flags: tuple[str, ...], number: int) -> pathlib.Path:
    """A header that the compiler has read before, for objects with these flags. What cannot use it reads it as text."""
    header = folder / f"prefix{number}" / "prefix.h"
    header.parent.mkdir()
    header.write_text(_PREFIX)
    command = _command(Unit(header, flags=flags))
    clang = "clang" in _version(_compiler())
    instantiate = ["-fpch-instantiate-templates"] if clang else []
    _run([*command, *instantiate, "-x", "c++-header", str(header), "-o", f"{header}.{'pch' if clang else 'gch'}"])
    return header


def _command(unit: Unit, first: Sequence[str] = ()) -> list[str]:
    wheel = installed()
    return [
        *(unit.compiler or _compiler()), *FLAGS, *unit.flags, *first, *(f"-I{folder}" for folder in unit.include), *wheel.flags,
        f"-I{_cpp_files.include_folder()}",
    ]  # fmt: skip


@functools.lru_cache(maxsize=256)
def _hash_of_headers(folder: pathlib.Path) -> str:
    """Of all files below it that sources include by their place in it: their change may change the object."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.h")):
        if not _NEVER_NAMED.isdisjoint(path.relative_to(folder).parts) or not path.is_file():
            continue
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _key(unit: Unit) -> bytes:
    is_file = unit.source.is_absolute()
    folders = (*unit.include, *([unit.source.parent] if is_file else []), _cpp_files.include_folder())
    parts = [*_command(unit), installed().stamp, _version(tuple(unit.compiler or _compiler())), unit.source.name]
    parts += [_hash_of_headers(folder) for folder in folders]
    parts += [part for text in sorted(unit.texts) for part in text]
    # Paths are in it as #line and in assertions' messages.
    contents = unit.source.read_bytes() if is_file else b""
    return b"\0".join([b"object", *(part.encode() for part in parts), str(unit.source).encode(), contents])


@functools.lru_cache(maxsize=8)
def _version(compiler: tuple[str, ...]) -> str:
    try:
        return subprocess.run([*compiler, "--version"], capture_output=True, text=True, timeout=60).stdout.partition("\n")[0]
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(f"the compiler does not run: {error}") from error


@functools.lru_cache(maxsize=1)
def _compiler() -> tuple[str, ...]:
    """$CXX, or the first compiler that there is. Clang reads torch's headers two to three times as fast as GCC."""
    chosen = shlex.split(os.environ.get("CXX", ""))
    if not chosen and (clang := newest_clang()):
        return (clang,)
    for candidate in [chosen] if chosen else (["c++"], ["g++"]):
        if found := shutil.which(candidate[0]):
            return (found, *candidate[1:])
    raise CannotBuild(f"there is no C++ compiler ({chosen[0] if chosen else 'clang++, c++ or g++'})")


def newest_clang() -> str | None:
    """The path of clang++-N with the highest N, or of clang++."""
    names = {name for folder in os.get_exec_path() for name in _names(folder) if re.fullmatch(r"clang\+\+-\d+", name)}
    newest = sorted(names, key=lambda name: -int(name.rpartition("-")[2]))
    return next((found for name in (*newest, "clang++") if (found := shutil.which(name))), None)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _run(command: Iterable[str]) -> None:
    command = list(command)
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(str(error)) from error
    if run.returncode != 0:
        raise CannotBuild(run.stderr.strip() or f"{command[0]} ended with {run.returncode}")


@contextmanager
def _once(key: bytes):
    """Processes that want the same library at the same time (pytest-xdist) wait for the first."""
    name = f"metalloid-{os.getuid()}-{hashlib.sha256(key).hexdigest()[:32]}.lock"
    path = pathlib.Path(tempfile.gettempdir()) / name
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:  # each compiles for itself then
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
        path.unlink(missing_ok=True)  # who waits at it finds the library in the cache
    finally:
        os.close(file)
