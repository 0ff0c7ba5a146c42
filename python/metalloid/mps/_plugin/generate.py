"""C++ registrations and headers for entries of native_functions.yaml that name MPS, made by the wheel's own torchgen.

A wheel for Linux has no MPS registrations. ``generate`` makes them for the entries that are chosen (entries.py), as
PyTorch's build makes RegisterMPS_0.cpp:

1. Chosen entries take the place of the wheel's; MPS is taken out of the dispatch of all others.
2. Sources: wrappers and their registrations, in parts that compile in seconds; of operators that the wheel does not
   know also schemas, ``at::_ops``, and registrations of their kernels for other keys.
3. Headers ``ATen/ops/X_native.h`` that go before the wheel's, include them, and add what they do not declare: kernels of
   MPS's own. Of new operators all headers.

All of it is text, kept in Metalloid's cache under what it depends on.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence

from ... import _core, _cpp_files
from . import entries as _entries
from .compile import Unit
from .entries import YamlError

_HEADERS = _cpp_files.torch_mps_folder() / "registrations"

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
        headers: text by path as in #include.
        sources: text by name.
        functions: what the sources register.
        new_operators: functions that the wheel does not know.
        differentiable: those of them that derivatives.yaml defines.
        python_names: of new operators, each with where it is to be: ("torch", name), ("Tensor", name), (module, name).
        notes: what was left out, in words.
    """

    headers: dict[str, str]
    sources: dict[str, str]
    functions: list[Function]
    new_operators: list[str]
    differentiable: list[str]
    python_names: list[list[str]]
    notes: list[str]

    def units(self) -> list[Unit]:
        """What is to be compiled into the library that has the kernels."""
        return [
            Unit(pathlib.Path(name), (_HEADERS,), texts=((name, text), *headers_of([text], self.headers)))
            for name, text in self.sources.items()
        ]


_include = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]', re.MULTILINE)


def headers_of(texts: Iterable[str], headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """The headers that sources include, and that those include: no more, so that a change elsewhere compiles nothing."""
    found: dict[str, str] = {}
    open_texts = list(texts)
    while open_texts:
        for name in _include.findall(open_texts.pop()):
            if name in headers and name not in found:
                found[name] = headers[name]
                open_texts.append(headers[name])
    return sorted(found.items())


def generate(
    files: Sequence[str | os.PathLike[str]], operators: Sequence[str] = (), brought: Sequence[str] = (),
    derivatives: Sequence[str | os.PathLike[str]] = (),
) -> Generated:  # fmt: skip
    """Makes sources and headers for entries that name MPS.

    Args:
        files: native_functions.yaml files, small ones or the whole of PyTorch's, and tables of kernels.
        operators: names as in ``atan2``, ``atan2.out``; without any, all entries of small files and those of whole ones
            that differ from the wheel's.
        brought: entries that count besides, though they are the wheel's.
        derivatives: derivatives.yaml files; what they say of new operators counts.

    Raises:
        YamlError: the entries cannot be used; the text has file and line.
        OSError, UnicodeDecodeError: a file cannot be read.
    """
    texts = [(os.fspath(file), pathlib.Path(file).read_text(encoding="utf-8")) for file in files]
    formulas = [(os.fspath(file), pathlib.Path(file).read_text(encoding="utf-8")) for file in derivatives]
    key = _key([texts, formulas, sorted(operators), sorted(brought)])
    kept = _core.read_cached_extension(key)
    if kept is None:
        left_out: list[str] = []
        choice = _entries.choose([_entries.read(text, path, left_out) for path, text in texts], operators, brought)
        from . import derivatives as _derivatives
        from . import registrations

        choice = dataclasses.replace(choice, notes=(*left_out, *choice.notes))
        made = registrations.make(choice, [_derivatives.read(text, path) for path, text in formulas])
        kept = json.dumps(made).encode()
        _core.write_cached_extension(key, kept)
    made = json.loads(kept)
    return Generated(**{**made, "functions": [Function(**function) for function in made["functions"]]})


def _key(asked: object) -> bytes:
    """All that the result depends on."""
    wheel = _entries.wheel_folder()
    digest = hashlib.sha256(json.dumps(asked).encode())
    for own in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if own.stem in ("generate", "entries", "registrations", "structured", "derivatives"):
            digest.update(own.read_bytes())
    for file in (wheel / "gen.py", wheel / "model.py", wheel / "packaged/ATen/native/native_functions.yaml"):
        digest.update(file.read_bytes())
    return b"generated\0" + digest.digest()
