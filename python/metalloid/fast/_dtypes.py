"""Names of element types: what NumPy, MLX, PyTorch and Python call them, as one word each."""

from __future__ import annotations

from typing import Any

from .._arguments.element_types import names_by_library

_python_types = {bool: "bool", int: "int32", float: "float32", complex: "complex64"}
_known: dict[Any, str] = {}


def dtype_name(dtype: Any) -> str | None:
    """The name of what some array library takes for a dtype; None for what is none, or none that Metal could have."""
    try:
        return _known[dtype]
    except (KeyError, TypeError):
        pass
    name = _python_types.get(dtype) if isinstance(dtype, type) else None
    if name is None:
        # numpy.dtype has its name; numpy.float32 is a class; str() of the others is library.name.
        text = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
        name = {"bool_": "bool", "half": "float16"}.get(word := text.rpartition(".")[2], word)
    if name not in names_by_library():
        return None
    try:
        _known[dtype] = name
    except TypeError:
        pass
    return name
