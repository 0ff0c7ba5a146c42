"""Compares a kernel's results with those of its definition in torch, one by one."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

import torch

from .run import is_unwritten

# Metal allows up to 16 ulp in some functions (MSL spec §8.4), and sums are added in another order.
_tolerances = {
    torch.float64: (1e-4, 1e-5),  # computed as float32
    torch.float32: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-3),
    torch.bfloat16: (3e-2, 1e-2),
}


class VerificationError(AssertionError):
    """A kernel's results are not those of its definition in torch.

    Attributes:
        kernel: the name that the kernel was made with.
        comparisons: one per result, if it came to that.
    """

    def __init__(self, message: str, kernel: str, comparisons: list[ResultComparison]) -> None:
        super().__init__(message)
        self.kernel = kernel
        self.comparisons = comparisons


@dataclasses.dataclass(frozen=True)
class ResultComparison:
    """How one result of a kernel differs from its definition."""

    name: str
    elements: int
    wrong: int  # elements that differ by more than the tolerance
    unwritten: int  # of the wrong ones: never written by the kernel
    largest_difference: float
    message: str  # empty if all is right

    @property
    def matches(self) -> bool:
        return not self.message


def verify_by_default() -> bool:
    """$METALLOID_VERIFY if set (0 or 1), else whether a pytest test is running."""
    setting = os.environ.get("METALLOID_VERIFY")
    if setting is not None:
        return setting.lower() not in ("", "0", "false", "off", "no")
    return "PYTEST_CURRENT_TEST" in os.environ


def compare(
    kernel: str,
    names: Sequence[str],
    got: Sequence[torch.Tensor],
    expected: Sequence[torch.Tensor],
    rtol: float | None = None,
    atol: float | None = None,
) -> list[ResultComparison]:
    """Raises VerificationError that names every wrong result."""
    check_count(kernel, names, expected)
    comparisons = [_compare_one(*each, rtol, atol) for each in zip(names, got, expected, strict=True)]
    wrong = [number for number, comparison in enumerate(comparisons) if not comparison.matches]
    if wrong:
        lines = "\n".join(f"  {comparisons[number].message}{_whose(number, names, got, expected)}" for number in wrong)
        raise VerificationError(
            f"kernel {kernel!r}: {len(wrong)} of {len(names)} results differ from torch_defn\n{lines}",
            kernel,
            comparisons,
        )
    return comparisons


def check_count(kernel: str, names: Sequence[str], expected: Sequence[torch.Tensor]) -> None:
    """Raises VerificationError if torch_defn does not return one tensor per name."""
    if len(expected) != len(names):
        raise VerificationError(
            f"kernel {kernel!r}: torch_defn returned {len(expected)} tensors, result_names has {len(names)} entries: "
            f"{list(names)}",
            kernel,
            [],
        )


def check_shapes(
    kernel: str, names: Sequence[str], shapes: Sequence[Sequence[int]], expected: Sequence[torch.Tensor]
) -> None:
    """Raises VerificationError before a kernel runs that would write behind results of another shape."""
    check_count(kernel, names, expected)
    wrong = [
        f"  {name}: torch_defn returns shape {tuple(one.shape)}, result_shapes says {tuple(shape)}"
        for name, shape, one in zip(names, shapes, expected, strict=True)
        if tuple(shape) != tuple(one.shape)
    ]
    if wrong:
        lines = "\n".join(wrong)
        raise VerificationError(
            f"kernel {kernel!r}: {len(wrong)} of {len(names)} results differ from torch_defn\n{lines}", kernel, []
        )


# Names that were swapped: the likeliest mistake of kernels with several results.
def _whose(
    number: int, names: Sequence[str], got: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]
) -> str:
    values = got[number]
    if values.numel():
        for name, other in zip(names, expected, strict=True):
            if (other.shape, other.dtype) == (values.shape, values.dtype) and name != names[number]:
                if _compare_one(name, values, other, None, None).matches:
                    return f"\n    it has the values of {name!r}"
    return ""


def _compare_one(
    name: str, got: torch.Tensor, expected: torch.Tensor, rtol: float | None, atol: float | None
) -> ResultComparison:
    got, expected = got.cpu(), expected.detach().cpu()
    if got.shape != expected.shape:
        shapes = f"torch_defn returns shape {tuple(expected.shape)}, result_shapes says {tuple(got.shape)}"
        return ResultComparison(name, got.numel(), got.numel(), 0, float("inf"), f"{name}: {shapes}")
    default_rtol, default_atol = _tolerances.get(expected.dtype, (0.0, 0.0))
    relative = default_rtol if rtol is None else rtol
    absolute = default_atol if atol is None else atol
    unwritten = is_unwritten(got)
    if expected.dtype.is_floating_point:
        a, b = got.to(torch.float64), expected.to(torch.float64)
        close = torch.isclose(a, b, rtol=relative, atol=absolute, equal_nan=True) & ~unwritten
    else:
        relative = absolute = 0.0
        a, b = got.to(torch.int64), expected.to(torch.int64)
        close = a == b
    wrong = ~close
    count = int(wrong.sum())
    if count == 0:
        return ResultComparison(name, got.numel(), 0, 0, 0.0, "")
    difference = torch.where(wrong, (a - b).abs().to(torch.float64).nan_to_num(nan=float("inf")), -1.0)
    never = int((wrong & unwritten).sum())

    def element(at: Sequence[int]) -> str:
        value = "nothing" if bool(unwritten[at]) else _text(got[at])
        return f"at {_place(name, at)} the kernel gives {value}, torch_defn {_text(expected[at])}"

    first = tuple(wrong.nonzero()[0].tolist())
    message = (
        f"{name}: {count} of {got.numel()} elements are wrong; {element(first)} (rtol {relative:g}, atol {absolute:g})"
    )
    farthest = tuple(int(i) for i in torch.unravel_index(difference.argmax(), got.shape))
    if never:
        message += f"; {never} were never written"
    if farthest != first and not bool(unwritten[farthest]):
        message += f"\n    the largest difference: {element(farthest)}"
    return ResultComparison(name, got.numel(), count, never, float(difference.max()), message)


def _place(name: str, at: Sequence[int]) -> str:
    """``[2, 5]``, and how the kernel's source spells it: ``[2, 5] (x[5, 2] in Metal)``."""
    return str(list(at)) if len(at) < 2 else f"{list(at)} ({name}{list(reversed(at))} in Metal)"


# Digits that tell all numbers of a type apart.
_digits = {torch.float64: 9, torch.float32: 9, torch.float16: 5, torch.bfloat16: 4}


def _text(value: torch.Tensor) -> str:
    return f"{value.item():.{_digits[value.dtype]}g}" if value.dtype in _digits else str(value.item())


def where_kernels_run(tensor: torch.Tensor) -> torch.Tensor:
    """Tensors on a GPU are there already."""
    return tensor if tensor.is_cuda else tensor.cpu()


def copies_of(values: Sequence[object]) -> list[object]:
    """Values whose tensors a kernel may spoil: copies in the order of memory that it binds."""
    contiguous = torch.contiguous_format
    return [
        where_kernels_run(value.detach()).clone(memory_format=contiguous) if isinstance(value, torch.Tensor) else value
        for value in values
    ]


def check_inputs_unchanged(
    kernel: str, names: Sequence[str], before: Sequence[object], after: Sequence[object]
) -> None:
    """Raises VerificationError if a tensor is no longer what it was, to the bit."""
    for name, old, new in zip(names, before, after, strict=True):
        if isinstance(old, torch.Tensor) and not _same_bits(where_kernels_run(old.detach()), new):
            raise VerificationError(f"kernel {kernel!r} writes to its input {name!r}", kernel, [])


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    a, b = (tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (a, b))
    return torch.equal(a, b)
