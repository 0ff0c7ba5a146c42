"""Derivatives of new operators against differences of their values, in double precision on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch.testing import make_tensor

from .checklist import Overload
from .comparison import NOT_ON_CPU, first_lines


def derivative_problems(overloads: Sequence[Overload]) -> Iterator[str]:
    """What torch.autograd.gradcheck says of them, a line each."""
    for overload in overloads:
        call = overload.bound(torch.float64)
        inputs = [make_tensor((3, 4), dtype=torch.float64, device="cpu", requires_grad=True) for _ in range(overload.count)]
        try:
            result = call(*inputs)
        except NOT_ON_CPU as error:
            yield f"{overload.name}, derivative: no difference was taken, the CPU has no float64 of it: {first_lines(error)}"
            continue
        if not result.requires_grad:
            yield f"{overload.name}, derivative: there is none for float64"
            continue
        try:
            torch.autograd.gradcheck(call, inputs)
        except Exception as error:  # whatever autograd raises is what its author wants to know
            yield f"{overload.name}, derivative: {first_lines(error)}"
