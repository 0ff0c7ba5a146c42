"""Whether an array's elements are what a kernel's argument takes them for.

Metal sees memory. Scripts use that: packed words as bytes, int as uint, float as float4, and all of these stay. Only
memory in one floating-point format that is read as another is never meant: the numbers are wrong, and a kernel that takes
half for float writes twice as far as the memory reaches.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

# Complex numbers are vectors of two elements. Metal has no arithmetic in the others.
_formats_of_dtypes = {"complex32": "f16", "complex64": "f32", "float64": "float64", "complex128": "complex128"}


@functools.cache
def library_names() -> dict[str, str]:
    """What array libraries call the types of elements, by the names that reflection has for them."""
    from .._core import element_types

    return {name: library_name for name, library_name, _, _ in element_types()}


@functools.cache
def names_by_library() -> dict[str, str]:
    """The other way round: "float32" is "f32"."""
    return {library_name: name for name, library_name in library_names().items()}


@functools.cache
def kind_of(name: str) -> str:
    """What HostArray calls the kind of a type that reflection names: "f32" is "float"."""
    return library_names()[name].rstrip("0123456789")


@functools.cache
def _formats() -> dict[str, tuple[str, str]]:
    """Metal's floating-point formats: what Metal and array libraries call them."""
    from .._core import element_types

    return {name: (metal, library) for name, library, metal, _ in element_types() if name in ("f16", "bf16", "f32")}


def format_of(dtype: Any) -> str | None:
    """Of a dtype of torch or NumPy: a floating-point format by name; None for integers and everything else."""
    name = str(dtype).rpartition(".")[2]
    if name in _formats_of_dtypes:
        return _formats_of_dtypes[name]
    return names_by_library().get(name, name) if name.startswith(("float", "bfloat")) else None


def describe(argument: Mapping[str, Any]) -> str:
    return f"argument '{argument['name']}' at buffer({argument['index']}), {argument['type']}"


def check_format(argument: Mapping[str, Any] | None, dtype: Any, what: str) -> None:
    """Raises TypeError for elements in another floating-point format than the argument's.

    Args:
        argument: the kernel's reflection of it, None if it has none there.
        what: the value in messages, "tensor" or "array".
    """
    if argument is not None and argument["active"]:
        _check(describe(argument), argument["scalar"], dtype, what)


def check_pointee(argument: Mapping[str, Any] | None, position: int, dtype: Any) -> None:
    """The same for the tensor at that position in a list of them, whose address the kernel takes."""
    if argument is not None and argument["active"] and (pointees := argument["pointees"]):
        wanted = pointees[position % len(pointees)]
        _check(f"{describe(argument)}, tensor {position} of the list", wanted, dtype, "tensor")


def _check(place: str, wanted: str, dtype: Any, what: str) -> None:
    given = format_of(dtype)
    if wanted not in _formats() or given is None or given == wanted:
        return
    metal_name, library_name = _formats()[wanted]
    module = "torch." if what == "tensor" else "numpy."
    convert = "to" if what == "tensor" else "astype"
    raise TypeError(
        f"{place}: its elements are {metal_name}, the {what}'s are {str(dtype).rpartition('.')[2]}. "
        f".{convert}({module}{library_name}) converts them; .view({module}{library_name}) says that the same memory is "
        "meant"
    )
