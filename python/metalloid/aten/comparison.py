"""A call on MPS beside the same one on the CPU: tensors of both, what ran, and whether the results are the same."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from .. import _core
from ..mps import _plugin

Tolerance = tuple[float, float] | None
# What an operator raises on the CPU for a type that it does not have there.
NOT_ON_CPU = (RuntimeError, NotImplementedError, TypeError)
_ACCEPTED = "is accepted"


class Watch:
    """Which operators launched Metal kernels, and which went to the CPU.

    Args:
        sources: Metal files whose kernels ``has_seen_sources`` is about.
    """

    def __init__(self, sources: Sequence[str] = ()) -> None:
        self._device = _plugin.device()
        self._first_lines = tuple(f'#line 1 "{source}"\n' for source in sources)
        self._has_seen = False
        if sources:
            _core.record(True)

    def has_seen_sources(self) -> bool:
        """Whether a kernel of them ran since the last question."""
        has_seen, self._has_seen = self._has_seen, False
        return has_seen

    def during(self, call: Callable[[], Any], tells: bool = True) -> tuple[Any, int, list[str]]:
        """Its result, how many kernels it launched, and the operators that the CPU computed.

        Args:
            tells: whether ``has_seen_sources`` counts it.
        """
        torch.mps.synchronize()
        launches, before = self._device.launches(), self._device.fallbacks()
        result = call()
        torch.mps.synchronize()
        if self._first_lines:
            events, _ = _core.take_events()
            self._has_seen |= tells and any(
                event["kind"] == "dispatch" and event["error"] is None and event["source"].startswith(self._first_lines)
                for event in events
            )
        after = self._device.fallbacks()
        names = sorted(name for name, count in after.items() if count != before.get(name, 0))
        return result, self._device.launches() - launches, names


def on_mps(tensor: torch.Tensor) -> torch.Tensor:
    """With the same layout: a copy of all of its storage."""
    flat = torch.empty(0, dtype=tensor.dtype).set_(tensor.detach().untyped_storage())
    copy = flat.to("mps").as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
    if tensor.is_conj():
        copy = copy.conj()
    if tensor.is_neg():
        copy = copy._neg_view()
    return copy.requires_grad_(tensor.requires_grad)


def moved(value: Any) -> Any:
    """With its tensors and devices on MPS."""

    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided:
            return on_mps(leaf)
        if isinstance(leaf, str) and leaf == "cpu":
            return "mps"
        return torch.device("mps") if isinstance(leaf, torch.device) else leaf

    return tree_map(move, value)


def with_gradients(value: Any, dtype: torch.dtype) -> Any:
    """With tensors of the type that want gradients."""

    def want(leaf: Any) -> Any:
        return leaf.detach().requires_grad_() if isinstance(leaf, torch.Tensor) and leaf.dtype is dtype else leaf

    return tree_map(want, value)


def tensors(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    tree_map(lambda leaf: found.append(leaf) if isinstance(leaf, torch.Tensor) else None, value)
    return found


def is_on_mps(value: Any) -> bool:
    return any(tensor.is_mps for tensor in tensors(value))


def on_cpu(call: Callable[[Any], Any], inputs: Any, dtype: torch.dtype, may_widen: bool = True) -> tuple[Any, bool]:
    """What the CPU computes, and whether in this type; as PyTorch's tests, in float32 if it does not have it.

    Raises:
        NOT_ON_CPU: it does not compute this at all.
    """
    try:
        return call(inputs), True
    except NOT_ON_CPU:
        if not dtype.is_floating_point or not may_widen:
            raise
        return call(tree_map(lambda leaf: _as_float(leaf, dtype), inputs)), False


def _as_float(leaf: Any, dtype: torch.dtype) -> Any:
    return leaf.float() if isinstance(leaf, torch.Tensor) and leaf.dtype is dtype else leaf


def compare(
    actual: Any, expected: Any, tolerance: Tolerance, check_dtype: bool = True, values: bool = True
) -> None:  # fmt: skip
    """Results on MPS with the CPU's.

    Args:
        tolerance: (atol, rtol); None: torch.testing's for the type.
        values: whether the elements must agree; else the rest, of operators that draw numbers.

    Raises:
        AssertionError: what differs.
    """
    ours, theirs = tensors(actual), tensors(expected)
    assert len(ours) == len(theirs), f"{len(ours)} results instead of {len(theirs)}"
    for one, other in zip(ours, theirs, strict=True):
        assert one.is_mps, f"the result is on {one.device}"
        cpu, other = _plain(one), _plain(other)
        if not check_dtype and cpu.is_floating_point() and other.is_floating_point():
            other = other.to(cpu.dtype)
        if not values:
            assert cpu.shape == other.shape, f"the shape is {tuple(cpu.shape)} instead of {tuple(other.shape)}"
            assert cpu.dtype == other.dtype or not check_dtype, f"the type is {cpu.dtype} instead of {other.dtype}"
            continue
        limits = {"atol": tolerance[0], "rtol": tolerance[1]} if tolerance and _is_rounded(cpu) else {}
        torch.testing.assert_close(cpu, other, equal_nan=True, check_dtype=check_dtype, **limits)
    if not ours:
        assert type(actual) is type(expected), f"{actual!r} instead of {expected!r}"
        assert not values or _is_same(actual, expected), f"{actual!r} instead of {expected!r}"


def is_as_exact(call: Callable[[Any], Any], inputs: Any, actual: Any, expected: Any) -> bool:
    """Whether results in float32 are as near as the CPU's to those in double precision, if that is where they differ.

    Where large terms cancel, two right results differ by more than any tolerance that is relative to what is left.

    Args:
        inputs: of the call, on the CPU.
        actual: on MPS.
        expected: the CPU's results, in float32.
    """
    ours, theirs = tensors(actual), tensors(expected)
    if not ours or any(one.dtype is not torch.float32 for one in (*ours, *theirs)):
        return False
    try:
        exact = tensors(call(tree_map(lambda leaf: leaf.double() if _is_float(leaf) else leaf, inputs)))
    except NOT_ON_CPU:
        return False

    def distance(some: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return (_plain(some).double() - right.detach()).abs().max()

    both = zip(ours, theirs, exact, strict=True)
    return all(
        one.shape == right.shape and right.dtype is torch.float64 and distance(one, right) <= 2 * distance(other, right)
        for one, other, right in both
    )


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.dtype is torch.float32


def choices_agree(actual: Any, expected: Any, source: Any, tolerance: Tolerance) -> bool:
    """Whether (values, indices) are those of the CPU but for indices of equal elements, whose order is not defined."""
    has_both = isinstance(expected, tuple) and hasattr(expected, "values") and hasattr(expected, "indices")
    if not has_both or not isinstance(source, torch.Tensor):
        return False
    compare(actual[0], expected[0], tolerance)
    values, indices, source = actual[0].cpu(), actual[1].cpu(), source.detach()
    for dimension in range(source.dim()):
        if values.dim() < source.dim():
            at = indices.unsqueeze(dimension)
        else:
            at = indices
        fits = at.dim() == source.dim() and all(
            i == dimension or size <= source.size(i) for i, size in enumerate(at.size())
        )
        if fits and (at.numel() == 0 or at.max() < source.size(dimension)):
            found = source.gather(dimension, at).reshape(values.shape)
            if torch.equal(found.nan_to_num(), values.detach().nan_to_num()):
                return True
    return False


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    cpu = tensor.detach().cpu()
    return cpu.resolve_conj().resolve_neg() if cpu.layout is torch.strided else cpu


def _is_rounded(tensor: torch.Tensor) -> bool:
    # Of bytes, PyTorch's lists have tolerances for images.
    return tensor.is_floating_point() or tensor.is_complex() or tensor.dtype is torch.uint8


def _is_same(actual: Any, expected: Any) -> bool:
    if isinstance(expected, float | complex):
        return bool(torch.isclose(torch.tensor(actual), torch.tensor(expected), equal_nan=True))
    return bool(actual == expected)


def gradients(
    actual: Any, expected: Any, there: Any, here: Any, arrange: Callable[[torch.Tensor], torch.Tensor] = lambda seed: seed
) -> tuple[Any, Any] | None:  # fmt: skip
    """Derivatives of results by inputs, on MPS and on the CPU, for ``compare``; None: the CPU has none.

    Args:
        arrange: the layout in which the derivatives of results are given.
    """
    pairs = [
        (one, other)
        for one, other in zip(tensors(actual), tensors(expected), strict=True)
        if other.requires_grad and other.layout is torch.strided
    ]
    wanted = [(one, other) for one, other in zip(tensors(there), tensors(here), strict=True) if other.requires_grad]
    if not pairs or not wanted:
        return None
    seeds = [arrange(torch.randn_like(other)) for _, other in pairs]
    options = {"allow_unused": True, "retain_graph": True}
    try:
        cpu = torch.autograd.grad([other for _, other in pairs], [one for _, one in wanted], seeds, **options)
    except NOT_ON_CPU:
        return None
    mps = torch.autograd.grad(
        [one for one, _ in pairs], [one for one, _ in wanted], [on_mps(seed) for seed in seeds], **options
    )
    assert [one is None for one in mps] == [one is None for one in cpu], "other inputs have derivatives"
    return [one for one in mps if one is not None], [one for one in cpu if one is not None]


def error_inputs(info: Any) -> Iterator[tuple[int, str]]:
    """Number by number, what PyTorch wants to be an error on MPS and is none, or another one; "": it is the error.

    What the CPU accepts is left out.
    """
    if info.error_inputs_func is None:
        return
    here, there = info.error_inputs("cpu"), info.error_inputs("mps")
    for number, (cpu, mps) in enumerate(itertools.zip_longest(here, there)):
        if mps is not None and (cpu is None or _problem(info, cpu) != _ACCEPTED):
            yield number, _problem(info, mps)


def _problem(info: Any, error: Any) -> str:
    sample = error.sample_input
    try:
        info.op(sample.input, *sample.args, **sample.kwargs)
        torch.mps.synchronize()
    except error.error_type as raised:
        if re.search(error.error_regex, str(raised)):
            return ""
        return f"says {str(raised)[:200]!r} instead of {error.error_regex!r}"
    except Exception as raised:  # whatever an operator raises is what its author wants to know
        return f"raises {first_lines(raised)!r} instead of {error.error_type.__name__}"
    return _ACCEPTED


def first_lines(error: BaseException) -> str:
    lines = [line[:200] for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' / '.join(lines[:4])}"
