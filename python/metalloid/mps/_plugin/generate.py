"""C++ registrations and headers for entries of native_functions.yaml that name MPS, made by the wheel's own torchgen.

A wheel for Linux has no MPS registrations. ``generate`` makes them for the entries that are chosen (entries.py), as
PyTorch's build makes RegisterMPS_0.cpp:

1. Chosen entries take the place of the wheel's; MPS is taken out of the dispatch of all others.
2. Sources: wrappers and a TORCH_LIBRARY_IMPL, in parts that compile in seconds; of operators that the wheel does not
   know also schemas, ``at::_ops``, and registrations of their kernels for other keys.
3. Headers ``ATen/ops/X_native.h`` that go before the wheel's, include them, and add what they do not declare: kernels of
   MPS's own. Of new operators all headers.

What was generated stays in a folder named by all that it depends on.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Sequence

from . import entries as _entries
from .entries import YamlError

__all__ = ["Function", "Generated", "YamlError", "generate"]


@dataclasses.dataclass(frozen=True)
class Function:
    """A kernel that is registered.

    Attributes:
        name: of the function, with its overload: ``atan2.out``.
        key: the dispatch key.
        kernel: its C++ name, ``at::native::atan2_out``; of a structured one that of the class.
        place: file and line of the entry.
        registers: the functions that it serves: of a structured ``atan2.out`` also ``atan2`` and ``atan2_``.
        own: whether the contributor must bring it: no header of the wheel declares it.
    """

    name: str
    key: str
    kernel: str
    structured: bool
    place: str
    registers: list[str]
    own: bool


@dataclasses.dataclass(frozen=True)
class Generated:
    """What ``generate`` made.

    Attributes:
        include: a folder for the compiler, before the wheel's headers.
        sources: C++ to be compiled into the library that has the kernels.
        functions: what the sources register.
        new_operators: functions that the wheel does not know.
        notes: what was left out, in words.
    """

    include: pathlib.Path
    sources: list[pathlib.Path]
    functions: list[Function]
    new_operators: list[str]
    notes: list[str]


def generate(
    files: Sequence[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    operators: Sequence[str] = (),
) -> Generated:
    """Makes sources and headers for entries that name MPS.

    Args:
        files: native_functions.yaml files, small ones or the whole of PyTorch's.
        folder: where results are kept; each in a folder of its own below.
        operators: names as in ``atan2``, ``atan2.out``; without any, all entries of small files and those of whole ones
            that differ from the wheel's.

    Raises:
        YamlError: the entries cannot be used; the text has file and line.
    """
    texts = [(str(file), pathlib.Path(file).read_text()) for file in files]
    result = pathlib.Path(folder) / _key(texts, operators)
    if not (result / "generated.json").is_file():
        choice = _entries.choose([_entries.read(text, path) for path, text in texts], operators)
        from . import registrations

        _publish(result, *registrations.make(choice))
    return _read(result)


def _key(texts: Sequence[tuple[str, str]], operators: Sequence[str]) -> str:
    """Names all that the result depends on."""
    wheel = _entries.wheel_folder()
    digest = hashlib.sha256(json.dumps([texts, sorted(operators)]).encode())
    for own in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if own.stem in ("generate", "entries", "registrations"):
            digest.update(own.read_bytes())
    for file in (wheel / "gen.py", wheel / "model.py", wheel / "packaged/ATen/native/native_functions.yaml"):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def _publish(result: pathlib.Path, files: dict[str, str], manifest: dict[str, object]) -> None:
    """Writes a folder that is there as a whole or not at all."""
    result.parent.mkdir(parents=True, exist_ok=True)
    made = pathlib.Path(tempfile.mkdtemp(prefix=".making-", dir=result.parent))
    try:
        for name, text in {**files, "generated.json": json.dumps(manifest, indent=1)}.items():
            file = made / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        made.chmod(0o755)
        shutil.rmtree(result, ignore_errors=True)  # one without its manifest
        os.rename(made, result)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        if not (result / "generated.json").is_file():  # another process was not faster either
            raise


def _read(result: pathlib.Path) -> Generated:
    manifest = json.loads((result / "generated.json").read_text())
    return Generated(
        include=result / "include",
        sources=[result / name for name in manifest["sources"]],
        functions=[Function(**function) for function in manifest["functions"]],
        new_operators=manifest["new_operators"],
        notes=manifest["notes"],
    )
