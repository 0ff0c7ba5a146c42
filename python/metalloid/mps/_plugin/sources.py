"""What the texts of C++ and Metal sources tell: which kernels they define, and which stubs they register."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Mapping

from . import entries
from .generate import Function

_comment_or_literal = re.compile(
    r"""//(?:[^\\\n]|\\.)*|/\*.*?(?:\*/|\Z)|(R"([^()\\\s]{0,16})\(.*?\)\2"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])*')""",
    re.DOTALL,
)


def code_of(text: str) -> str:
    """A source without its comments; lines keep their numbers."""
    return _comment_or_literal.sub(lambda found: found[1] or " " + "\n" * found[0].count("\n"), text)


def read(files: Iterable[pathlib.Path]) -> dict[pathlib.Path, str]:
    """Their code.

    Raises:
        OSError, UnicodeDecodeError: a file cannot be read.
    """
    return {file: code_of(file.read_text(encoding="utf-8")) for file in files}


def defines(text: str, function: Function) -> bool:
    return defines_kernel(text, function.kernel.rpartition("::")[2].removeprefix("structured_"), function.structured)


def defines_kernel(text: str, kernel: str, structured: bool) -> bool:
    """Whether a source defines a kernel, as far as its text tells: macros of PyTorch's files make some of them."""
    if kernel not in text:
        return False
    name = re.escape(kernel)
    if structured:
        return re.search(rf"\b\w*IMPL_FUNC\w*\s*\(\s*{name}\b", text) is not None or _in_macro(text, name)
    return re.search(rf"\b{name}\s*\([^;{{}}]*\)\s*(noexcept\s*)?\{{", text) is not None or _in_macro(text, name)


def _in_macro(text: str, name: str) -> bool:
    return re.search(rf"^\s*[A-Z][A-Z0-9_]+\s*\([^;{{}}]*\b{name}\b", text, re.MULTILINE) is not None


def registers(text: str, stub: str) -> bool:
    return re.search(rf"\bREGISTER_(MPS_)?DISPATCH\s*\(\s*{re.escape(stub)}\s*,", text) is not None


def stubs_of(function: Function, natives: Iterable[pathlib.Path], texts: Mapping[pathlib.Path, str]) -> list[str]:
    """The stubs that a function shared with the CPU may call: those that PyTorch's own sources name beside it."""
    kernel = function.kernel.rpartition("::")[2].removeprefix("structured_")
    name = re.escape(kernel)
    stubs: dict[str, None] = {}
    for file in natives:
        for found in re.finditer(rf"\b\w*IMPL_FUNC\w*\s*\(\s*{name}\b|^[^\n;]*\b{name}\s*\(", texts[file], re.MULTILINE):
            rest = texts[file][found.start() : found.start() + 3000]
            end = re.search(r"\n\}", rest)
            stubs.update(dict.fromkeys(re.findall(r"\b(\w+_stub)\b", rest[: end.start() if end else 200])))
    base = entries.base_of(function.name)
    return list(stubs) or [f"{base}_stub"]
