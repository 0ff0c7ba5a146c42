"""Libraries that were compiled elsewhere, as the package metalloid-torch-mps brings them.

They take the place of what is compiled here where all that they depend on is the same: the release of torch, its C++ ABI,
the processor's kind, and Metalloid's sources. ``about.json`` beside them tells, with a hash of each library.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import pathlib
import platform
from collections.abc import Mapping
from typing import NamedTuple

import torch

from ... import _core, _cpp_files

PACKAGE = "metalloid_torch_mps"
DEVICE, OPERATORS = "libmetalloid_torch.so", "libmetalloid_operators.so"

_made_of = (
    _cpp_files.torch_mps_folder(), pathlib.Path(__file__).parent, _cpp_files.include_folder(), _cpp_files.sdk_include_folder(),
)  # fmt: skip
_compiled = {".cpp", ".h", ".metal", ".py", ".yaml"}


class Prebuilt(NamedTuple):
    """What was found.

    Attributes:
        libraries: by name; none if they are not to be used.
        problem: why not, in words; empty where there is no such package.
    """

    libraries: Mapping[str, bytes] = {}
    problem: str = ""


@functools.lru_cache(maxsize=1)
def hash_of_sources() -> str:
    """Of all that the device and its operators are made of: their sources, what compiles them, Metalloid's headers."""
    digest = hashlib.sha256()
    for folder in _made_of:
        for path in sorted(path for path in folder.rglob("*") if path.suffix in _compiled and path.is_file()):
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def identity() -> dict[str, str]:
    """What must be the same where libraries are made and where they are loaded, by its name in a sentence."""
    return {
        "torch": f"{torch.__version__.partition('+')[0]} ({torch.version.git_version})",
        "the C++ ABI": f"_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
        "the processor": platform.machine(),
        "metalloid": _core.version,
        "sources with the hash": hash_of_sources(),
    }


def write(folder: pathlib.Path, libraries: Mapping[str, bytes]) -> None:
    """What ``read`` reads."""
    for name, binary in libraries.items():
        (folder / name).write_bytes(binary)
    hashes = {name: hashlib.sha256(binary).hexdigest() for name, binary in libraries.items()}
    (folder / "about.json").write_text(json.dumps({"made for": identity(), "libraries": hashes}, indent=2) + "\n")


def read() -> Prebuilt:
    """The libraries of the package, if it is installed and fits."""
    found = importlib.util.find_spec(PACKAGE)
    folder = next(iter(found.submodule_search_locations or ()), None) if found else None
    return Prebuilt() if folder is None else _read(pathlib.Path(folder))


def _read(folder: pathlib.Path) -> Prebuilt:
    try:
        about = json.loads((folder / "about.json").read_bytes())
        made_for, hashes = about["made for"], about["libraries"]
        for what, ours in identity().items():
            if made_for[what] != ours:
                return Prebuilt(problem=f"{folder} is for {what} {made_for[what]}, and here is {ours}")
        libraries = {name: (folder / name).read_bytes() for name in (DEVICE, OPERATORS)}
        for name, binary in libraries.items():
            if hashlib.sha256(binary).hexdigest() != hashes[name]:
                return Prebuilt(problem=f"{folder / name} is damaged: its hash is not the one in about.json")
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Prebuilt(problem=f"{folder} is damaged: {type(error).__name__}: {error}")
    return Prebuilt(libraries)
