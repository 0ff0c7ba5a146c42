"""C++ sources to a shared library: objects are compiled side by side, and each is kept in Metalloid's cache."""

from __future__ import annotations

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
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from ... import _core, _cpp_files
from .wheel import CannotBuild, installed

# Of the wheel: libraries that call stubs must agree with it on their form.
STUBS = ("AVX2", "AVX512") if platform.machine() in ("x86_64", "AMD64") else ()
# All sources have the same ones, as far as can be: they share what the compiler has read of torch (_PREFIX).
FLAGS = [
    "-std=c++20", "-O2", "-g0", "-fPIC", "-w", "-DNDEBUG", "-DUSE_MPS", "-DPYTORCH_JIT_COMPILE_SHADERS", "-DAT_PER_OPERATOR_HEADERS",
    "-DFMT_HEADER_ONLY=1", *(f"-DHAVE_{level}_CPU_DEFINITION" for level in STUBS),
]  # fmt: skip
TIMEOUT = 600  # seconds an object may take
# Folders of torch_mps/ whose headers only files beside them include.
_NEVER_NAMED = {"operators"}
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
        files: those that ``source`` is made of, if it is a batch.
    """

    source: pathlib.Path
    include: tuple[pathlib.Path, ...] = ()
    flags: tuple[str, ...] = ()
    compiler: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    files: tuple[pathlib.Path, ...] = ()

    @property
    def is_file(self) -> bool:
        return self.source.is_absolute()

    @property
    def size(self) -> int:
        """Of its own text, in bytes."""
        files = (self.source,) if self.is_file else self.files
        return sum(file.stat().st_size for file in files) + len(dict(self.texts).get(str(self.source), ""))


def build(name: str, units: Sequence[Unit], announce: str = "") -> bytes:
    """The shared library of these sources (Workshop.build)."""
    with Workshop() as workshop:
        return workshop.build(name, units, announce)


class Workshop:
    """Where objects are compiled side by side: several libraries' share the processors, and what was read for them."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=os.cpu_count())
        self._folder = tempfile.TemporaryDirectory(prefix="metalloid-")
        self._prefixes: dict[tuple[str, ...], Future[pathlib.Path]] = {}
        self._announced: set[str] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._folder.cleanup()

    def build(self, name: str, units: Sequence[Unit], announce: str = "") -> bytes:
        """The shared library of these sources. Threads may ask for several at a time.

        Args:
            name: its SONAME, "libX.so".
            announce: said on standard error before the first object is compiled, once.

        Raises:
            CannotBuild: there is no compiler, or the compiler's own errors, which name file and line.
        """
        compiler = _compiler()
        link = [*compiler, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-Wl,-z,now"]
        # All are in the process when the library is loaded, and found by their names; the last one only where the device is.
        libraries = [
            f"-L{installed().libraries}", "-ltorch", "-ltorch_cpu", "-lc10", str(_cpp_files.library()),
            "-Wl,--as-needed", str(_cpp_files.metal_library()),
        ]  # fmt: skip
        keys = [_key(unit) for unit in units]
        whole = b"\0".join([b"library", *(argument.encode() for argument in (*link, *libraries)), *keys])
        if (binary := _core.read_cached_extension(whole)) is not None:
            return binary
        with _once(whole):
            if (binary := _core.read_cached_extension(whole)) is not None:  # another process made it meanwhile
                return binary
            folder = pathlib.Path(tempfile.mkdtemp(dir=self._folder.name))
            objects = self._objects(units, keys, folder, announce)
            result = folder / name
            _run([*link, *map(str, objects), *libraries, "-o", str(result)])
            binary = result.read_bytes()
            _core.write_cached_extension(whole, binary)
        if announce and _core.read_cached_extension(whole) is None:
            self._say(
                "metalloid: what was compiled cannot be kept, so that it is compiled each time: Metalloid's cache folder "
                "($METALLOID_CACHE_DIR, or metalloid in $XDG_CACHE_HOME or ~/.cache) cannot be written or is too small"
            )
        return binary

    def _objects(
        self, units: Sequence[Unit], keys: Sequence[bytes], folder: pathlib.Path, announce: str
    ) -> list[pathlib.Path]:
        objects = [folder / f"{index}.o" for index in range(len(units))]
        missing = []
        for unit, key, path in zip(units, keys, objects, strict=True):
            binary = _core.read_cached_extension(key)
            if binary is None:
                missing.append((unit, key, path))
            else:
                path.write_bytes(binary)
        if missing and announce:
            self._say(announce)

        def make(unit: Unit, key: bytes, path: pathlib.Path, prefix: Future[pathlib.Path] | None) -> None:
            _compile(unit, path, prefix.result() if prefix else None)
            _core.write_cached_extension(key, path.read_bytes())

        flags = Counter(unit.flags for unit, _, _ in missing if not unit.compiler)
        shared = {each for each, count in flags.items() if count >= _WORTH_A_PREFIX}
        done: list[Future[None]] = []
        # The longest first, so that the last ones end together.
        for unit, key, path in sorted(missing, key=lambda job: job[0].size, reverse=True):
            prefix = self._prefix(unit.flags) if unit.flags in shared and not unit.compiler else None
            done.append(self._pool.submit(make, unit, key, path, prefix))
        try:
            for each in done:
                each.result()
        except BaseException:
            for each in done:
                each.cancel()
            raise
        return objects

    def _prefix(self, flags: tuple[str, ...]) -> Future[pathlib.Path]:
        """Of objects with these flags. It is asked for before them, and so is compiled before them."""
        with self._lock:
            if flags not in self._prefixes:
                folder = pathlib.Path(tempfile.mkdtemp(dir=self._folder.name))
                self._prefixes[flags] = self._pool.submit(_compile_prefix, folder, flags)
            return self._prefixes[flags]

    def _say(self, text: str) -> None:
        with self._lock:
            if text not in self._announced:
                print(text, file=sys.stderr, flush=True)
            self._announced.add(text)


def _compile(unit: Unit, path: pathlib.Path, prefix: pathlib.Path | None) -> None:
    """Makes an object."""
    texts = path.with_suffix(".texts")
    for name, text in unit.texts:
        (texts / name).parent.mkdir(parents=True, exist_ok=True)
        (texts / name).write_text(text)
    first = [f"-I{texts}", f"-ffile-prefix-map={texts}="] if unit.texts else []
    first += ["-include", str(prefix)] if prefix else []
    _run([*_command(unit, first), "-c", str(texts / unit.source), "-o", str(path)])


def _compile_prefix(folder: pathlib.Path, flags: tuple[str, ...]) -> pathlib.Path:
    """A header that the compiler has read before, for objects with these flags. What cannot use it reads it as text."""
    header = folder / "prefix.h"
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
    files = (unit.source,) if unit.is_file else unit.files
    folders = (*unit.include, *dict.fromkeys(file.parent for file in files), _cpp_files.include_folder())
    parts = [*_command(unit), installed().stamp, _version(tuple(unit.compiler or _compiler())), unit.source.name]
    parts += [_hash_of_headers(folder) for folder in folders]
    parts += [part for text in sorted(unit.texts) for part in text]
    # Paths are in it as #line and in assertions' messages.
    contents = [part for file in files for part in (str(file).encode(), file.read_bytes())]
    return b"\0".join([b"object", *(part.encode() for part in parts), *contents])


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
