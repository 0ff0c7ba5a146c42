"""A folder of operators in PyTorch's layout, as what is to be compiled: ours, a contributor's, or a whole checkout.

In a small folder every file counts: native_functions.yaml, kernels/*.metal, operations/*.mm and *.cpp, other *.cpp
(kernels for the CPU, shape functions) and headers. Where operators are asked for those operations count that have their
kernels, and the .metal files that they include; so it is of a checkout of PyTorch.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch

from ... import _cpp_files
from . import entries, shaders, sources
from .batches import in_batches
from .compile import STUBS, Unit
from .generate import Function, Generated, YamlError, generate, headers_of

_home = _cpp_files.torch_mps_folder()
_SKIPPED = {".git", "build", "third_party", "test", "torch", "caffe2", "node_modules", "__pycache__"}
_DERIVATIVES = "tools/autograd/derivatives.yaml"
_YAMLS = {"native_functions.yaml", entries.TABLE}
_MANY = 1000  # PyTorch's own file has more entries
_entry = re.compile(r"^- func:", re.MULTILINE)
_dispatched_to_mps = re.compile(r"^[ \t]+(?:\w+,[ \t]*)*MPS(?:,[ \t]*\w+)*:[ \t]*(\w+)", re.MULTILINE)
_metallib = re.compile(r"ATen/native/mps/(\w+)_metallib\.h")


class FolderError(ValueError):
    """A folder cannot be built; each line begins with the file that it is about."""


@dataclasses.dataclass
class Folder:
    """The files of operators.

    Attributes:
        path: the folder.
        yamls: its native_functions.yaml, or its table of kernels.
        derivatives: its derivatives.yaml.
        kernels: Metal sources by name without suffix.
        operations: host files.
        natives: other C++ files.
        headers: by name as in #include.
        is_checkout: it is the whole of PyTorch.
    """

    path: pathlib.Path
    yamls: list[pathlib.Path]
    derivatives: list[pathlib.Path]
    kernels: dict[str, pathlib.Path]
    operations: list[pathlib.Path]
    natives: list[pathlib.Path]
    headers: dict[str, pathlib.Path]
    is_checkout: bool


@dataclasses.dataclass(frozen=True)
class Operators:
    """What is compiled of a folder.

    Attributes:
        generated: registrations.
        shaders: the Metal sources.
        units: for ``compile.build``.
    """

    generated: Generated
    shaders: list[shaders.Shader]
    units: list[Unit]


def find(path: str | os.PathLike[str]) -> Folder:
    """Looks for the files of a folder.

    Raises:
        FolderError: it has no native_functions.yaml, or is a checkout of another version of PyTorch.
    """
    root = pathlib.Path(path).resolve()
    if root.is_file() and root.name == "native_functions.yaml":
        root = root.parent
    if not root.is_dir():
        raise FolderError(f"{path}: there is no such folder")
    native = root / "aten" / "src" / "ATen" / "native"
    is_checkout = (native / "native_functions.yaml").is_file() and (root / "torchgen").is_dir()
    if is_checkout:
        _check_version(path, root)
    files = sorted(_files(native if is_checkout else root))
    found = [native / "native_functions.yaml"] if is_checkout else [file for file in files if file.name in _YAMLS]
    if not found:
        raise FolderError(f"{path}: there is no native_functions.yaml in it; 'metalloid aten new' writes one")
    code = [file for file in files if file.suffix in (".cpp", ".mm")]
    return Folder(
        path=root,
        yamls=found,
        derivatives=[root / _DERIVATIVES] if is_checkout else [file for file in files if file.name == "derivatives.yaml"],
        kernels={file.stem: file for file in files if file.suffix == ".metal"},
        operations=[file for file in code if file.parent.name == "operations" or file.suffix == ".mm"],
        natives=[file for file in code if file.parent.name != "operations" and file.suffix != ".mm"],
        headers=dict(_named_headers(root, files, is_checkout)),
        is_checkout=is_checkout,
    )


def _check_version(path: str | os.PathLike[str], root: pathlib.Path) -> None:
    """Of another version nearly everything is other: schemas, headers, what macros expand to."""
    file = root / "version.txt"
    theirs = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    if theirs and _release(theirs) != _release(torch.__version__):
        raise FolderError(
            f"{path}: this checkout is of PyTorch {theirs}, and PyTorch {torch.__version__} is installed; "
            f"both must be of the same release ('git checkout v{'.'.join(_release(torch.__version__))}.0', or another PyTorch)"
        )


def _release(version: str) -> list[str]:
    """Its first two numbers."""
    return re.findall(r"\d+", version)[:2]


def _files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
        yield from (pathlib.Path(place) / name for name in names)


def _named_headers(root: pathlib.Path, files: Iterable[pathlib.Path], is_checkout: bool) -> Iterator[tuple[str, pathlib.Path]]:
    """Of a checkout those of mps/, and those that the installed PyTorch does not have: the others may not fit it."""
    installed = entries.wheel_folder().parent / "torch" / "include"
    for file in files:
        if file.suffix != ".h":
            continue
        base = next(base for base in (root / "aten" / "src", root) if file.is_relative_to(base))
        name = file.relative_to(base).as_posix()
        if not is_checkout or "mps" in file.parts or not (installed / name).is_file():
            yield name, file


def prepare(folder: Folder, operators: Sequence[str] = (), together: bool = False) -> Operators:
    """Generates registrations and chooses what is compiled with them.

    Args:
        folder: from ``find``.
        operators: names; without any all that the folder brings (see ``generate``).
        together: host files are compiled in batches, which must fit: no name in the anonymous namespaces of two files.

    Raises:
        YamlError: the entries cannot be used.
        FolderError: a kernel or a file is missing.
        OSError, UnicodeDecodeError: a file cannot be read.
    """
    texts = sources.read((*folder.operations, *folder.natives))
    takes_all = not folder.is_checkout and not operators
    derivatives = [file for file in folder.derivatives if file.is_file()]
    generated = generate(folder.yamls, operators, _brought(folder, texts) if takes_all else (), derivatives)
    hosts = list(texts) if takes_all else _needed(folder, generated, texts)
    if not folder.is_checkout:
        _check_kernels(folder, generated.functions, texts)

    places = [folder.path / "aten" / "src", folder.path]
    stems = folder.kernels.keys() if takes_all else _included_kernels(hosts, texts, folder)
    metal = [shaders.read(folder.kernels[stem], places) for stem in sorted(stems)]
    own = {name: f'#line 1 "{file}"\n{file.read_text(encoding="utf-8")}' for name, file in folder.headers.items()}
    headers = {**own, **generated.headers, **shaders.headers(metal, together)}
    _check_metallibs(hosts, texts, headers)
    units = [unit for file in hosts for unit in _units(file, texts[file], headers)]
    units = (in_batches(units) if together else units) + generated.units()
    if metal:
        name = "Bundle.cpp"
        units.append(Unit(pathlib.Path(name), (_home,), texts=((name, shaders.bundle(metal)),)))
    return Operators(generated, metal, units)


def _units(file: pathlib.Path, text: str, headers: Mapping[str, str]) -> list[Unit]:
    texts = tuple(headers_of([text], headers))
    if file.suffix == ".mm":
        from .objective_c import COMPILER, FLAGS, INCLUDE

        return [Unit(file, (*INCLUDE, _home), FLAGS, COMPILER, texts)]
    if file.parent.name == "cpu":
        # PyTorch compiles these for several processors. Here each of their stubs gets the code for all of them.
        levels = [(f"-DCPU_CAPABILITY={level}",) for level in ("DEFAULT", *STUBS)]
        return [Unit(file, (_home,), level, texts=texts) for level in levels]
    return [Unit(file, (_home,), texts=texts)]


def _included_kernels(hosts: Iterable[pathlib.Path], texts: Mapping[pathlib.Path, str], folder: Folder) -> set[str]:
    return {stem for file in hosts for stem in _metallib.findall(texts[file])} & folder.kernels.keys()


def _check_metallibs(hosts: Iterable[pathlib.Path], texts: Mapping[pathlib.Path, str], headers: Mapping[str, str]) -> None:
    problems = []
    for file in hosts:
        for number, line in enumerate(texts[file].splitlines(), 1):
            found = _metallib.search(line)
            if found and line.lstrip().startswith("#") and found[0] not in headers:
                problems.append(f"{file}:{number}: it includes {found[0]}, but there is no kernels/{found[1]}.metal")
    if problems:
        raise FolderError("\n".join(problems))


def _check_kernels(folder: Folder, functions: Iterable[Function], texts: Mapping[pathlib.Path, str]) -> None:
    """Kernels that no header of the wheel declares must be in the folder."""
    problems = []
    for function in functions:
        if function.own and not any(sources.defines(text, function) for text in texts.values()):
            name = function.kernel.rpartition("::")[2].removeprefix("structured_")
            how = f"TORCH_IMPL_FUNC({name})" if function.structured else f"a function {name}"
            problems.append(
                f"{function.place}: '{function.name}' dispatches {function.key} to {name}, "
                f"but no file of the folder has {how}"
            )
    if problems:
        raise FolderError("\n".join(problems))


def _brought(folder: Folder, texts: Mapping[pathlib.Path, str]) -> list[str]:
    """Of a small folder whose native_functions.yaml is PyTorch's whole one, the entries whose kernels for MPS its files have."""
    names = []
    for file in folder.yamls:
        found = _entry.split(file.read_text(encoding="utf-8"))[1:]
        for entry in found if len(found) > _MANY else ():  # of a smaller file all entries count
            name = entry.partition("(")[0].strip()
            for kernel in _dispatched_to_mps.findall(entry):
                stub = f"{entries.base_of(name)}_stub"
                hosts = [texts[host] for host in folder.operations]
                defined = any(sources.defines_kernel(text, kernel, structured) for text in hosts for structured in (True, False))
                if defined or any(sources.registers(text, stub) for text in hosts):
                    names.append(name)
    return names


def _needed(folder: Folder, generated: Generated, texts: Mapping[pathlib.Path, str]) -> list[pathlib.Path]:
    """The files that have the functions' kernels: definitions of their own, and registered stubs. Of a small folder, and
    of new operators, also the other files that speak of them: shapes, and kernels for the CPU."""
    hosts: dict[pathlib.Path, None] = {}
    problems = []
    for function in generated.functions:
        if not folder.is_checkout or function.name in generated.new_operators:
            about = re.compile(rf"\b(structured_)?{re.escape(entries.base_of(function.name))}(_|\b)")
            hosts.update((file, None) for file in folder.natives if about.search(texts[file]))
        if function.key != "MPS":
            continue
        stubs = sources.stubs_of(function, folder.natives, texts)
        found = [file for file in folder.operations if any(sources.registers(texts[file], stub) for stub in stubs)]
        looked_for = " or ".join(f"REGISTER_DISPATCH({stub}, …)" for stub in stubs)
        if function.own:
            found += [file for file in texts if sources.defines(texts[file], function)]
            looked_for = function.kernel.rpartition("::")[2]
        if not found:
            problems.append(f"{function.place}: no file of mps/operations has a kernel for '{function.name}': {looked_for}")
        hosts.update(dict.fromkeys(found))
    if problems:
        raise FolderError("\n".join(problems))
    return list(hosts)


__all__ = ["Folder", "FolderError", "Operators", "YamlError", "find", "prepare"]
