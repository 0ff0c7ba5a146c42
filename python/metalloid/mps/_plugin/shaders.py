"""Metal sources of operators: what their host files include, and whether they compile.

A host file says ``#include <ATen/native/mps/X_metallib.h>`` and finds the library of X.metal in ``lib``, as in a build
of PyTorch with PYTORCH_JIT_COMPILE_SHADERS. The text in it is the .metal file with all headers that Metalloid does not
have itself put in their places; lines keep the file and the number that they come from, in every message of the compiler.
"""

from __future__ import annotations

import functools
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ... import _core, _shader


class ShaderError(ValueError):
    """A Metal source does not compile; the text is the compiler's log."""


class Shader(NamedTuple):
    """A Metal source that is complete.

    Attributes:
        file: the .metal file.
        text: what is compiled.
    """

    file: pathlib.Path
    text: str

    @property
    def header(self) -> str:
        """As host files include it."""
        return f"ATen/native/mps/{self.file.stem}_metallib.h"


_include = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^<>"\n]+)[>"].*$', re.MULTILINE)
_once = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b.*$", re.MULTILINE)


@functools.lru_cache(maxsize=1)
def _standard_headers() -> frozenset[str]:
    return frozenset(_core.standard_headers())


def _torch_headers() -> pathlib.Path | None:
    try:
        return pathlib.Path(_shader.torch_include_directory())
    except ModuleNotFoundError:
        return None


def read(file: pathlib.Path, folders: Sequence[pathlib.Path] = ()) -> Shader:
    """A Metal source with its headers.

    Args:
        file: the .metal file.
        folders: searched for headers before the installed PyTorch's; those of ``<c10/metal/...>`` count if one of them
            is not what the installed PyTorch has.

    Raises:
        OSError, UnicodeDecodeError: it cannot be read.
    """
    installed = _torch_headers()
    places = [*folders, *([installed] if installed else [])]
    own_c10 = any(_has_other_c10(folder, installed) for folder in folders)

    def find(name: str, quoted: bool, beside: pathlib.Path) -> pathlib.Path | None:
        if name in _standard_headers() and not (own_c10 and name.startswith("c10/metal/")):
            return None
        for folder in [beside, *places] if quoted else places:
            if (folder / name).is_file():
                return (folder / name).resolve()
        return None

    def complete(path: pathlib.Path, shown: str, within: tuple[pathlib.Path, ...]) -> str:
        text = path.read_text(encoding="utf-8")
        guard = _guard(path) if _once.search(text) else None
        text = _once.sub("", text)

        def replacement(found: re.Match[str]) -> str:
            header = find(found[2], found[1] == '"', path.parent)
            if header is None or header in within:
                return found[0]
            line = text.count("\n", 0, found.start()) + 2
            inner = complete(header, str(header), (*within, header))
            return f'{inner}\n#line {line} "{_escaped(shown)}"'

        body = f'#line 1 "{_escaped(shown)}"\n{_include.sub(replacement, text)}'
        return f"#ifndef {guard}\n#define {guard}\n{body}\n#endif" if guard else body

    return Shader(file, complete(file.resolve(), str(file), (file.resolve(),)) + "\n")


def _has_other_c10(folder: pathlib.Path, installed: pathlib.Path | None) -> bool:
    """Whether a folder has headers of c10/metal that somebody changed."""
    for header in (folder / "c10" / "metal").glob("*.h"):
        before = installed / "c10" / "metal" / header.name if installed else None
        if before is None or not before.is_file() or _content(before) != _content(header):
            return True
    return False


def _content(header: pathlib.Path) -> str:
    """Without what PyTorch's build puts around headers."""
    text = header.read_text(encoding="utf-8", errors="replace")
    wrapped = re.fullmatch(r"#if !defined\(TORCH_STABLE_ONLY\)[^\n]*\n(.*)\n#else\n[^\n]*\n#endif[^\n]*\s*", text, re.S)
    return (wrapped[1] if wrapped else text).strip()


def _guard(path: pathlib.Path) -> str:
    return "METALLOID_INCLUDED_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in str(path))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def check(shader: Shader) -> list[str]:
    """Compiles all kernels of a source.

    Returns:
        Their names.

    Raises:
        ShaderError: it does not compile.
    """
    try:
        library = _core.compile(shader.text, "cpu", (3, 2), "safe", [], [], {}, str(shader.file), "")
        library.compile_all_kernels()
    except SyntaxError as error:
        raise ShaderError(str(error)) from None
    return library.kernel_names()


def headers(shaders: Iterable[Shader], in_batches: bool = False) -> Mapping[str, str]:
    """Text by name of what host files include.

    Args:
        in_batches: several host files are one source (batches.py), each with a ``lib`` of its own, or the same.
    """
    header = _header_of_batches if in_batches else _header
    return {shader.header: header(shader) for shader in shaders}


def _header(shader: Shader, name: str = "lib") -> str:
    """Nothing else in it: host files include it inside of namespaces."""
    return f"static ::at::native::mps::MetalShaderLibrary {name}({_literal(shader.text)});\n"


def _header_of_batches(shader: Shader) -> str:
    name = f"library_of_{shader.file.stem}"
    guard = f"METALLOID_INCLUDED_{name}"
    return f"#ifndef {guard}\n#define {guard}\n{_header(shader, name)}#endif\n#define lib {name}\n"


def bundle(shaders: Iterable[Shader]) -> str:
    """A source that adds them to MetalShaderLibrary::getBundledLibrary()."""
    texts = ",\n".join(_literal(shader.text) for shader in shaders)
    return f"""\
#include <host/bundled_library.h>

static const bool added = [] {{
  for (const char* source : {{{texts}}}) metalloid::torch_host::add_bundled_source(source);
  return true;
}}();
"""


def _literal(text: str) -> str:
    """As C++ writes it: in pieces, because compilers need not take long ones."""
    delimiter = "METAL"
    while f"){delimiter}" in text:
        delimiter += "_"
    pieces = [text[start : start + 16000] for start in range(0, len(text), 16000)]
    return "\n".join(f'R"{delimiter}({piece}){delimiter}"' for piece in pieces)
