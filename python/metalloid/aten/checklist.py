"""The cases that kernels over a TensorIterator get wrong, for elementwise operators, and a few for all others."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import torch
from torch.testing import make_tensor

LARGE = 2**31 + 16


class Case(NamedTuple):
    """A call.

    Attributes:
        label: what is special about it.
        call: the operator.
        inputs: tensors of the CPU, with the layouts that tensors on MPS are to have.
        out: into which it writes, if any; ``is_in_place``: into the first input.
        is_mixed: its inputs are of several types, so that it may run a kernel for another one than it is about.
    """

    label: str
    call: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    out: torch.Tensor | None = None
    is_in_place: bool = False
    is_mixed: bool = False

    @property
    def is_functional(self) -> bool:
        return self.out is None and not self.is_in_place


@dataclasses.dataclass(frozen=True)
class Overload:
    """A functional overload whose arguments can be made.

    Attributes:
        function: the overload.
        count: how many tensors it needs.
        is_elementwise: it computes each element of its result from those of its inputs at that place.
    """

    function: Any
    count: int
    is_elementwise: bool

    @property
    def name(self) -> str:
        """Of the function, with its overload: ``lerp.Scalar``."""
        schema = self.function._schema
        return ".".join(filter(None, (schema.name.removeprefix("aten::"), schema.overload_name)))

    def bound(self, dtype: torch.dtype, to: Any = None) -> Callable[..., Any]:
        """The overload, or ``to``, which takes the same, as a function of tensors; its numbers have values."""
        target = to or self.function

        def call(*tensors: torch.Tensor, **more: Any) -> Any:
            rest = iter(tensors)
            positional, named = [], {}
            for argument in _needed(self.function):
                value = next(rest) if _kind(argument) == "TensorType" else _value(argument, dtype)
                if argument.kwarg_only:
                    named[argument.name] = value
                else:
                    positional.append(value)
            return target(*positional, **named, **more)

        return call


_VALUES = ("TensorType", "NumberType", "FloatType", "IntType", "SymIntType", "BoolType", "OptionalType")


def _kind(argument: Any) -> str:
    return argument.type.kind()


def _needed(function: Any) -> list[Any]:
    return [argument for argument in function._schema.arguments if not argument.has_default_value()]


def _value(argument: Any, dtype: torch.dtype) -> Any:
    kind = _kind(argument)
    if kind in ("NumberType", "FloatType"):
        return 0.5 if kind == "FloatType" or dtype.is_floating_point or dtype.is_complex else 2
    return {"IntType": 1, "SymIntType": 1, "BoolType": True}.get(kind)


def overloads(operator: str, elementwise: Collection[str], names: Collection[str] | None) -> tuple[list[Overload], str]:
    """The functional overloads for which samples can be made, and why there is none.

    Args:
        elementwise: operators that are so by their entries; the tag ``pointwise`` says it, too.
        names: functions that count; None: the first that is elementwise, with nothing but tensors.
    """
    packet = getattr(torch.ops.aten, operator, None)
    if packet is None:
        return [], f"there is no operator '{operator}'"
    # A functional entry takes its tags from the one that it delegates to only if it repeats them.
    out = getattr(packet, "out", None)
    is_pointwise = out is not None and torch.Tag.pointwise in out.tags
    found, why = [], f"none of its overloads is functional: {', '.join(packet.overloads())}"
    for overload in packet.overloads():
        function = getattr(packet, overload)
        needed = _needed(function)
        count = sum(_kind(argument) == "TensorType" for argument in needed)
        has_tag = torch.Tag.pointwise in function.tags or (is_pointwise and overload == "default")
        one = Overload(function, count, has_tag or operator in elementwise)
        if function._schema.is_mutable or (names is not None and one.name not in names):
            continue
        strange = [argument for argument in needed if _kind(argument) not in _VALUES]
        if strange:
            why = f"no value can be made for the argument '{strange[0].type} {strange[0].name}' of '{one.name}'"
        elif not 1 <= count <= 3:
            why = f"'{one.name}' takes {count} tensors, and samples are made for 1 to 3"
        elif names is not None:
            found.append(one)
        elif one.is_elementwise and count == len(needed):
            return [one], ""
    if not found and names is None:
        why = f"no overload of '{operator}' with nothing but tensors has the tag 'pointwise'"
    return found, "" if found else why


def _numbers(function: Any, dtype: torch.dtype) -> Iterator[tuple[str, int | float]]:
    """Arguments like alpha, with values that are not their defaults."""
    for argument in function._schema.arguments:
        if not argument.has_default_value() or isinstance(argument.default_value, bool):
            continue
        if argument.type.kind() in ("NumberType", "FloatType") and argument.default_value is not None:
            yield argument.name, 2.5 if dtype.is_floating_point or dtype.is_complex else 2
        elif argument.type.kind() == "IntType":
            yield argument.name, argument.default_value + 1


def cases(operator: str, overload: Overload, dtype: torch.dtype) -> Iterator[Case]:
    """All but large ones."""
    function, count = overload.bound(dtype), overload.count

    def tensor(*shape: int, of: torch.dtype = dtype) -> torch.Tensor:
        return make_tensor(shape, dtype=of, device="cpu")

    def same(label: str, make: Callable[[], torch.Tensor]) -> Case:
        return Case(label, function, tuple(make() for _ in range(count)))

    if not overload.is_elementwise:
        yield same("two dimensions", lambda: tensor(5, 6))
        yield same("transposed", lambda: tensor(6, 5).t())
        yield same("every second column", lambda: tensor(5, 12)[:, ::2])
        yield same("offset", lambda: tensor(7, 6)[2:])
        return
    yield same("empty", lambda: tensor(0))
    yield same("empty rows", lambda: tensor(3, 0, 2))
    yield same("0-dim", lambda: tensor())
    yield same("one dimension", lambda: tensor(7))
    yield same("many elements", lambda: tensor(300_007))
    yield same("transposed", lambda: tensor(5, 6).t())
    yield same("every second column", lambda: tensor(5, 12)[:, ::2])
    yield same("part of rows", lambda: tensor(16, 40)[:, :20])
    yield same("expanded", lambda: tensor(1, 6).expand(5, 6))
    yield same("offset", lambda: tensor(13)[3:])
    yield same("offset from the end", lambda: tensor(4, 13)[-2:, -3:])
    yield same("channels last", lambda: tensor(2, 3, 4, 5).to(memory_format=torch.channels_last))
    yield same("permuted, five dimensions", lambda: tensor(2, 3, 2, 3, 4).permute(4, 2, 0, 3, 1))
    if count > 1:
        rest = tuple(tensor(5, 6) for _ in range(count - 2))
        yield Case("broadcast rows", function, (tensor(5, 6), tensor(6), *rest))
        yield Case("broadcast rows on the left", function, (tensor(6), tensor(5, 6), *rest))
        yield Case("broadcast both", function, (tensor(5, 1), tensor(1, 6), *rest))
        yield Case("0-dim on the right", function, (tensor(5, 6), tensor(), *rest))
        yield Case("0-dim on the left", function, (tensor(), tensor(5, 6), *rest))
        yield Case("layouts differ", function, (tensor(6, 5).t(), tensor(5, 6), *rest))
        for other in (torch.float32, torch.float16, torch.int32, torch.uint8, torch.bool):
            if other is not dtype:
                yield Case(f"mixed with {name_of(other)}", function, (tensor(5, 6), tensor(5, 6, of=other), *rest), is_mixed=True)
    for name, value in _numbers(overload.function, dtype):
        call = functools.partial(function, **{name: value})
        others = tuple(tensor(5, 6) for _ in range(count - 1))
        yield Case(f"{name}={value}", call, (tensor(5, 6), *others))
        yield Case(f"{name}={value}, transposed", call, (tensor(6, 5).t(), *others))
        if count > 1:
            yield Case(f"{name}={value}, 0-dim on the right", call, (tensor(5, 6), tensor(), *others[1:]))
            yield Case(f"{name}={value}, mixed", call, (tensor(5, 6), tensor(5, 6, of=torch.float32), *others[1:]), is_mixed=True)

    yield from _into_results(operator, overload, dtype, tensor)


def _into_results(
    operator: str, overload: Overload, dtype: torch.dtype, tensor: Callable[..., torch.Tensor]
) -> Iterator[Case]:
    inputs = tuple(tensor(5, 6) for _ in range(overload.count))
    try:
        result = overload.bound(dtype)(*inputs)
    except (RuntimeError, NotImplementedError):
        return  # the CPU does not have the type
    packet = getattr(torch.ops.aten, operator)
    own = overload.function._schema.overload_name
    name = next((name for name in (f"{own}_out" if own else "out", "out") if name in packet.overloads()), None)
    if name is not None:
        out = overload.bound(dtype, getattr(packet, name))
        yield Case("out=", out, inputs, out=torch.empty(5, 6, dtype=result.dtype))
        yield Case("out= transposed", out, inputs, out=torch.empty(6, 5, dtype=result.dtype).t())
        yield Case("out= resized", out, inputs, out=torch.empty(0, dtype=result.dtype))
    packet = getattr(torch.ops.aten, f"{operator}_", None)
    if packet is not None and (own or "default") in packet.overloads() and result.dtype == inputs[0].dtype:
        in_place = overload.bound(dtype, getattr(packet, own or "default"))
        yield Case("in place", in_place, inputs, is_in_place=True)
        yield Case("in place, transposed", in_place, (tensor(6, 5).t(), *inputs[1:]), is_in_place=True)


def large(overload: Overload, dtype: torch.dtype) -> Case | None:
    """More elements than 2^31, of inputs that take one element of memory; None: it does not fit here."""
    if not overload.is_elementwise or available_bytes() < 4 * LARGE * dtype.itemsize:
        return None
    function, count = overload.bound(dtype), overload.count
    return Case("more than 2^31 elements", function, tuple(make_tensor((1,), dtype=dtype, device="cpu").expand(LARGE) for _ in range(count)))


def available_bytes() -> int:
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
