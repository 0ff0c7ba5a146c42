"""The cases that kernels over a TensorIterator get wrong, for operators of PyTorch's tag ``pointwise``."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Iterator
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
    """

    label: str
    call: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    out: torch.Tensor | None = None
    is_in_place: bool = False


def pointwise(operator: str) -> tuple[Any, int] | None:
    """The functional overload that needs tensors alone, and how many; None: the operator is not elementwise."""
    packet = getattr(torch.ops.aten, operator, None)
    # A functional entry takes its tags from the one that it delegates to only if it repeats them.
    out = getattr(packet, "out", None)
    is_pointwise = out is not None and torch.Tag.pointwise in out.tags
    for overload in packet.overloads() if packet is not None else ():
        function = getattr(packet, overload)
        needed = [argument for argument in function._schema.arguments if not argument.has_default_value()]
        if (
            (torch.Tag.pointwise in function.tags or (is_pointwise and overload == "default"))
            and not function._schema.is_mutable
            and 1 <= len(needed) <= 3
            and all(argument.type.kind() == "TensorType" for argument in needed)
        ):
            return function, len(needed)
    return None


def _numbers(function: Any, dtype: torch.dtype) -> Iterator[tuple[str, int | float]]:
    """Arguments like alpha, with values that are not their defaults."""
    for argument in function._schema.arguments:
        if not argument.has_default_value() or isinstance(argument.default_value, bool):
            continue
        if argument.type.kind() in ("NumberType", "FloatType") and argument.default_value is not None:
            yield argument.name, 2.5 if dtype.is_floating_point or dtype.is_complex else 2
        elif argument.type.kind() == "IntType":
            yield argument.name, argument.default_value + 1


def cases(operator: str, dtype: torch.dtype) -> Iterator[Case]:
    """All but large ones; none if the operator is not elementwise."""
    found = pointwise(operator)
    if found is None:
        return
    function, count = found

    def tensor(*shape: int, of: torch.dtype = dtype) -> torch.Tensor:
        return make_tensor(shape, dtype=of, device="cpu")

    def same(label: str, make: Callable[[], torch.Tensor]) -> Case:
        return Case(label, function, tuple(make() for _ in range(count)))

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
                yield Case(f"mixed with {name_of(other)}", function, (tensor(5, 6), tensor(5, 6, of=other), *rest))
    for name, value in _numbers(function, dtype):
        call = functools.partial(function, **{name: value})
        others = tuple(tensor(5, 6) for _ in range(count - 1))
        yield Case(f"{name}={value}", call, (tensor(5, 6), *others))
        yield Case(f"{name}={value}, transposed", call, (tensor(6, 5).t(), *others))
        if count > 1:
            yield Case(f"{name}={value}, 0-dim on the right", call, (tensor(5, 6), tensor(), *others[1:]))
            yield Case(f"{name}={value}, mixed", call, (tensor(5, 6), tensor(5, 6, of=torch.float32), *others[1:]))

    yield from _into_results(operator, function, count, tensor)


def _into_results(
    operator: str, function: Any, count: int, tensor: Callable[..., torch.Tensor]
) -> Iterator[Case]:
    inputs = tuple(tensor(5, 6) for _ in range(count))
    packet = getattr(torch.ops.aten, operator)
    try:
        result = function(*inputs)
    except (RuntimeError, NotImplementedError):
        return  # the CPU does not have the type
    if "out" in packet.overloads():
        yield Case("out=", packet.out, inputs, out=torch.empty(5, 6, dtype=result.dtype))
        yield Case("out= transposed", packet.out, inputs, out=torch.empty(6, 5, dtype=result.dtype).t())
        yield Case("out= resized", packet.out, inputs, out=torch.empty(0, dtype=result.dtype))
    in_place = getattr(torch.ops.aten, f"{operator}_", None)
    if in_place is not None and result.dtype == inputs[0].dtype:
        yield Case("in place", in_place, inputs, is_in_place=True)
        yield Case("in place, transposed", in_place, (tensor(6, 5).t(), *inputs[1:]), is_in_place=True)


def large(operator: str, dtype: torch.dtype) -> Case | None:
    """More elements than 2^31, of inputs that take one element of memory; None: it does not fit here."""
    found = pointwise(operator)
    if found is None or available_bytes() < 4 * LARGE * dtype.itemsize:
        return None
    function, count = found
    return Case("more than 2^31 elements", function, tuple(make_tensor((1,), dtype=dtype, device="cpu").expand(LARGE) for _ in range(count)))


def available_bytes() -> int:
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
