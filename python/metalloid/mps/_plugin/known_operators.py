"""The operators that PyTorch itself has for MPS: of the others it says that they fall back to the CPU."""

from __future__ import annotations

import importlib.util
import pathlib
import re

from ... import _core
from .wheel import installed

_entry = re.compile(r"^- func: ([\w.]+)\(", re.MULTILINE)
_dispatch_to_mps = re.compile(r"^ +[\w, ]*\b(?:Sparse)?MPS\b[\w, ]*:", re.MULTILINE)
_delegate = re.compile(r"^ +structured_delegate: ([\w.]+)", re.MULTILINE)


def operators_of_pytorch() -> set[str]:
    """Names with overloads ("aten::sum.dim_IntList"), by the native_functions.yaml that torch's wheel has; empty if none."""
    key = b"operators of PyTorch for MPS and its sparse tensors\0" + installed().stamp.encode()
    cached = _core.read_cached_extension(key)
    if cached is None:
        cached = "\n".join(sorted(_read())).encode()
        _core.write_cached_extension(key, cached)
    return set(cached.decode().split())


def _read() -> set[str]:
    found = importlib.util.find_spec("torchgen")
    if found is None or found.origin is None:
        return set()
    file = pathlib.Path(found.origin).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    if not file.is_file():
        return set()
    _, *parts = _entry.split(file.read_text(encoding="utf-8"))
    entries = dict(zip(parts[::2], parts[1::2], strict=True))
    own = {name for name, body in entries.items() if _dispatch_to_mps.search(body)}
    delegating = {name for name, body in entries.items() if (to := _delegate.search(body)) and to[1] in own}
    return {f"aten::{name}" for name in own | delegating}
