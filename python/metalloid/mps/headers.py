"""Headers that torch's package has beside its own sources: ``#include <ATen/native/mps/kernels/Activation.h>``.

On a Mac torch.mps.compile_shader replaces such lines by the files. Here the files come with the source as headers in
memory; those of ``<c10/metal/...>`` that Metalloid has itself stay Metalloid's.
"""

from __future__ import annotations

import functools
import os
import pathlib
import re
from collections.abc import Mapping

from .. import _core, _shader

_include = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]', re.MULTILINE)


@functools.lru_cache(maxsize=1)
def _folder() -> pathlib.Path | None:
    try:
        return pathlib.Path(os.path.realpath(_shader.torch_include_directory()))
    except ModuleNotFoundError:
        return None


@functools.lru_cache(maxsize=1)
def _ours() -> frozenset[str]:
    return frozenset(_core.standard_headers())


@functools.lru_cache(maxsize=256)
def _text(name: str) -> str | None:
    """The file's, if it lies in torch's folder."""
    folder = _folder()
    if folder is None or name in _ours():
        return None
    path = pathlib.Path(os.path.realpath(folder / name))
    if not path.is_relative_to(folder) or not path.is_file():
        return None
    return path.read_text(encoding="utf-8", errors="replace")


def included_by(source: str) -> Mapping[str, str]:
    """Every header of torch's that the source includes, and that those include, by name."""
    found: dict[str, str] = {}
    texts = [source]
    while texts:
        for name in _include.findall(texts.pop()):
            if name not in found and (text := _text(name)) is not None:
                found[name] = text
                texts.append(text)
    return found
