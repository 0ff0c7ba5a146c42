"""One call of a kernel, and the checks of what makes it: all that can be checked without looking at the arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .._arguments.device_arrays import Place
from .._arguments.numbers import number
from ._dtypes import dtype_name

Template = Sequence[tuple[str, Any]] | Mapping[str, Any] | None

directions = (
    "Give dictionaries for all three (inputs={'x': a}, output_shapes={'y': a.shape}, output_dtypes={'y': a.dtype}; the "
    "result is a dictionary), or name the arrays in metal_kernel(input_names=['x'], output_names=['y'], ...) and give "
    "lists."
)


class Runnable(Protocol):
    """What a call asks of its kernel."""

    def run_into(self, call: Call, inputs: Sequence[Any], outputs: Sequence[Any]) -> None: ...

    def launch_into(self, call: Call, place: Place, outputs: Sequence[Any]) -> None: ...

    def add_mlx_node(self, call: Call, inputs: Sequence[Any], outputs: Sequence[Any]) -> None: ...

    def declared_to(self, other_metal_kernel: Any) -> Any: ...


class Call(NamedTuple):
    """A call, checked."""

    kernel: Runnable
    inputs: list[Any]
    output_shapes: list[tuple[int, ...]]
    output_dtypes: list[str]
    grid: tuple[int, int, int]
    threadgroup: tuple[int, int, int]
    template: Sequence[tuple[str, Any]] | None  # as the user gave it, as a list
    templates: list[tuple[str, Any]]
    init_value: float | None
    stream: Any


Runner = Callable[["Call"], list[Any]]


def runs_at_once(
    allocate: Callable[[Sequence[int], str], Any], finish: Callable[[Any], Any] | None = None
) -> Runner:
    """allocate(shape, dtype) gives memory for an output; finish makes of it the array that the caller receives."""

    def run(call: Call) -> list[Any]:
        outputs = [
            allocate(shape, dtype) for shape, dtype in zip(call.output_shapes, call.output_dtypes, strict=True)
        ]
        call.kernel.run_into(call, call.inputs, outputs)
        return outputs if finish is None else [finish(output) for output in outputs]

    return run


def is_mapping(value: Any) -> bool:
    """isinstance of the abstract class takes half a microsecond for what is none."""
    kind = type(value)
    return kind is dict or (kind is not list and kind is not tuple and isinstance(value, Mapping))


def are_dictionaries(**arguments: Any) -> bool:
    """Whether a call names its arrays.

    Raises:
        TypeError: some of them are dictionaries and some are not.
    """
    others = [what for what, value in arguments.items() if not is_mapping(value)]
    if others and len(others) < len(arguments):
        named = ", ".join(f"`{what}`" for what in arguments if what not in others)
        raise TypeError(
            f"metal_kernel takes lists or dictionaries, not both: {named} with names, and "
            f"{', '.join(f'`{what}`' for what in others)} without. {directions}"
        )
    return not others


def names_of(what: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"metal_kernel: the keys of `{what}` are names of arrays, not {name!r}")
    return tuple(values)


def in_order(what: str, names: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
    """The values of these names, which must be all that there are."""
    given = names_of(what, values)
    missing = [name for name in names if name not in values]
    surplus = [name for name in given if name not in names]
    if missing or surplus:
        reasons = [f"has no {name!r}" for name in missing] + [f"has {name!r}, which is none of them" for name in surplus]
        raise ValueError(f"[metal_kernel] The arrays are {list(names)}: `{what}` {', and '.join(reasons)}.")
    return [values[name] for name in names]


def check_count(what: str, expected: Sequence[Any], values: Sequence[Any]) -> None:
    if len(values) != len(expected):
        raise ValueError(
            f"[metal_kernel] Expected `{what}` to have size {len(expected)} but got size {len(values)}.\n"
        )


def require_lists(**arguments: Any) -> None:
    for what, value in arguments.items():
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"metal_kernel takes a list for `{what}`, not {type(value).__name__}")


def template_of(arguments: Template) -> list[tuple[str, Any]]:
    if arguments is None:
        return []
    if isinstance(arguments, Mapping):
        arguments = list(arguments.items())
    elif not isinstance(arguments, (list, tuple)):
        raise TypeError(f"metal_kernel takes a list or a dictionary for `template`, not {type(arguments).__name__}")
    result: list[tuple[str, Any]] = []
    for pair in arguments:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)):
            raise TypeError(f"metal_kernel: template must be a list of pairs of a name and a value; {pair!r} is none")
        name, value = pair
        plain = None if isinstance(value, (type, str)) else number(value)
        value = value if plain is None else plain
        if type(value) is int and not -(1 << 31) <= value < 1 << 31:
            value = None
        elif not isinstance(value, (bool, int)):
            value = None if isinstance(value, (str, float)) else dtype_name(value)
        if value is None:
            raise ValueError(
                "[metal_kernel] Invalid template argument. Must be `mlx.core.Dtype`, `int` or `bool`."
            )
        result.append((name, value))
    return result


def initial_value(value: Any) -> float | None:
    if value is None or type(value) is float:
        return value
    try:
        if not isinstance(value, str):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"metal_kernel: init_value must be a float, not {value!r}")


def extents_of(what: str, value: Sequence[int]) -> tuple[int, int, int]:
    try:
        x, y, z = map(operator.index, value)
    except (TypeError, ValueError):
        raise TypeError(f"metal_kernel: {what} must be three integers, not {value!r}") from None
    if not -(1 << 31) <= min(x, y, z) <= max(x, y, z) < 1 << 31:
        raise ValueError(f"[metal_kernel] `{what}` does not fit 32 bits: {value!r}")
    return x, y, z


def shapes_of(value: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    try:
        shapes = [tuple(map(operator.index, shape)) for shape in value]
    except TypeError:
        raise TypeError(
            f"metal_kernel: output_shapes must be a list with the shape of each output, not {value!r}"
        ) from None
    for shape in shapes:
        if shape and (min(shape) < 0 or max(shape) >= 1 << 31 or math.prod(shape) >= 1 << 48):
            wrong = "has negative dimensions" if min(shape) < 0 else "is too large"
            raise ValueError(f"[metal_kernel] An output's shape {wrong}: {shape}")
    return shapes


def dtype_names(dtypes: Sequence[Any]) -> list[str]:
    result = []
    for dtype in dtypes:
        name = dtype_name(dtype)
        if name is None:
            raise TypeError(f"[metal_kernel] Not an element type that a kernel can have: {dtype!r}")
        result.append(name)
    return result
