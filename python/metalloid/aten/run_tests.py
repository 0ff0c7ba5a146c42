"""``metalloid aten test``: an operator on Metal kernels against the CPU, type by type.

OpInfo's samples as PyTorch's test_output_match and test_output_grad_match run them, with its lists for MPS; its error
inputs; the cases of checklist.py. What counts is what Metal kernels computed: calls that ran none are not right.
"""

from __future__ import annotations

import dataclasses
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from .. import _core
from ..mps import _plugin, install_on_import
from ..mps._plugin import entries
from . import build, checklist, opinfo
from .checklist import Case, name_of


@dataclasses.dataclass
class Row:
    """What is known of an operator for one type.

    Attributes:
        registered: whether the folder's Metal sources have kernels for the type; None: it is not known.
        calls: that have elements to compute.
        ran: of them, those that ran a Metal kernel.
        right: of them, those whose results are the CPU's.
        gradients, right_gradients: of samples with gradients.
        problems: what went wrong, a line each.
        note: why nothing was tried, or what PyTorch expects.
    """

    registered: bool | None
    calls: int = 0
    ran: int = 0
    right: int = 0
    gradients: int = 0
    right_gradients: int = 0
    problems: list[str] = dataclasses.field(default_factory=list)
    note: str = ""
    excused: bool = False


class Watch:
    """Which Metal kernels ran, and which operators went to the CPU."""

    def __init__(self) -> None:
        self._device = _plugin.device()
        _core.record(True)

    def during(self, call: Callable[[], Any]) -> tuple[Any, list[str], list[str]]:
        """Its result, the names of kernels, and of operators that the CPU computed."""
        torch.mps.synchronize()
        _core.take_events()
        _core.take_operator_dispatches()
        before = dict(self._device.fallbacks())
        result = call()
        torch.mps.synchronize()
        events, _ = _core.take_events()
        kernels = [event["kernel"] for event in events if event["kind"] == "dispatch"]
        kernels += _core.take_operator_dispatches()
        after = self._device.fallbacks()
        return result, kernels, sorted(name for name, count in after.items() if count != before.get(name, 0))


def run(folder: str | None, names: Sequence[str], samples: int, large: bool) -> bool:
    """Tests operators and prints a table for each.

    Args:
        folder: is built first; None: Metalloid's own operators.
        names: operators; none: all that the folder registers.
        samples: at most so many of OpInfo's for each type; 0: all.
        large: also more than 2^31 elements.

    Returns:
        Whether all is right and Metal kernels computed it.
    """
    install_on_import()
    built = build.build(folder, names) if folder is not None else None
    if built is not None:
        functions = [one for one in built.operators.generated.functions if one.key == "MPS"]
        operators = list(dict.fromkeys(entries.base_of(one.name) for one in functions))
    else:
        operators = list(dict.fromkeys(entries.base_of(name.removeprefix("aten::")) for name in names))
    if not operators:
        print("metalloid aten test: name operators with --op, or a folder", file=sys.stderr)
        return False
    kernels = [name for group in built.kernels.values() for name in group] if built else None
    watch = Watch()
    fine = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for operator in operators:
            fine = _report(operator, *_test(operator, kernels, watch, samples, large)) and fine
    return fine


def _test(
    operator: str, kernels: list[str] | None, watch: Watch, samples: int, large: bool
) -> tuple[dict[torch.dtype, Row], list[str]]:
    infos = opinfo.infos(operator)
    torch.manual_seed(0)
    rows = {}
    for dtype in opinfo.DTYPES:
        row = rows[dtype] = Row(_is_registered(operator, dtype, kernels))
        supported = [info for info in infos if dtype in info.supported_dtypes("mps")]
        if infos and not supported:
            row.note = "not a type of this operator"
            row.excused = True
            continue
        for info in supported:
            _opinfo_samples(info, dtype, row, watch, samples)
        for case in checklist.cases(operator, dtype):
            _call(case, dtype, row, watch, None)
        if large and (case := checklist.large(operator, dtype)) is not None:
            _large(case, row, watch)
    return rows, [problem for info in infos for problem in _error_inputs(info)]


def _is_registered(operator: str, dtype: torch.dtype, kernels: list[str] | None) -> bool | None:
    if kernels is None:
        return None
    metal = _metal_name(dtype)
    ours = [name for name in kernels if name.startswith(f"{operator}_")] or kernels
    return any(metal in name.split("_") for name in ours)


def _metal_name(dtype: torch.dtype) -> str:
    if dtype.is_complex:
        return "float2" if dtype is torch.complex64 else "half2"
    names = {library: metal for _, library, metal, _ in _core.element_types()}
    return names.get(name_of(dtype), name_of(dtype))


def on_mps(tensor: torch.Tensor) -> torch.Tensor:
    """With the same layout: a copy of all of its storage."""
    flat = torch.empty(0, dtype=tensor.dtype).set_(tensor.detach().untyped_storage())
    moved = flat.to("mps").as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
    if tensor.is_conj():
        moved = moved.conj()
    return moved.requires_grad_(tensor.requires_grad)


def _moved(value: Any) -> Any:
    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided:
            return on_mps(leaf)
        return torch.device("mps") if isinstance(leaf, torch.device) else leaf

    return tree_map(move, value)


def _opinfo_samples(info: Any, dtype: torch.dtype, row: Row, watch: Watch, limit: int) -> None:
    expected = opinfo.expectation(info, "test_output_match", dtype)
    if expected.is_skipped or expected.fails:
        row.note = "PyTorch skips it" if expected.is_skipped else "PyTorch expects it to fail"
        row.excused = True
        return
    differentiable = dtype in opinfo.GRADIENT_DTYPES and dtype in info.supported_backward_dtypes("mps")
    gradient = opinfo.expectation(info, "test_output_grad_match", dtype)
    for number, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=differentiable, set_seed=True)):
        if limit and number >= limit:
            break
        label = f"sample {number}"

        def call(*inputs: Any, sample: Any = sample) -> Any:
            return info.op(*inputs, **(_moved(sample.kwargs) if _is_on_mps(inputs) else sample.kwargs))

        case = Case(label, call, (sample.input, *sample.args))
        differentiates = differentiable and not gradient.is_skipped and not gradient.fails
        _call(case, dtype, row, watch, expected.tolerance, differentiates)
        if number < 8:
            other = sample.noncontiguous()
            _call(Case(f"{label}, noncontiguous", call, (other.input, *other.args)), dtype, row, watch, expected.tolerance)


def _is_on_mps(inputs: Any) -> bool:
    found: list[bool] = []
    tree_map(lambda leaf: found.append(leaf.is_mps) if isinstance(leaf, torch.Tensor) else None, inputs)
    return any(found)


def _call(
    case: Case, dtype: torch.dtype, row: Row, watch: Watch, tolerance: tuple[float, float] | None,
    differentiates: bool = False,
) -> None:  # fmt: skip
    """Runs a case on both devices and compares."""
    here, there = case.inputs, _moved(case.inputs)
    into = {} if case.out is None else {"out": case.out}
    into_there = {} if case.out is None else {"out": _moved(case.out)}
    if case.is_in_place:
        there = _moved(here)
        here = tree_map(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, here)
    is_cpus_type = True
    try:
        expected = case.call(*here, **into)
    except (RuntimeError, NotImplementedError, TypeError):
        # The CPU does not have the type; PyTorch's tests compare with float32 then.
        is_cpus_type = False
        if not dtype.is_floating_point or case.out is not None or case.is_in_place:
            return
        try:
            expected = case.call(*tree_map(lambda leaf: _as_float(leaf, dtype), here))
        except (RuntimeError, NotImplementedError, TypeError):
            return
    computes = any(leaf.numel() > 0 for leaf in _tensors(expected))
    row.calls += computes
    try:
        actual, kernels, fallbacks = watch.during(lambda: case.call(*there, **into_there))
        row.ran += computes and bool(kernels)
        _compare(actual, expected, tolerance or opinfo.TOLERANCES.get(dtype), is_cpus_type)
        if computes and not kernels:
            raise AssertionError(f"no Metal kernel ran ({', '.join(fallbacks) or 'nothing'} on the CPU)")
        row.right += computes
    except Exception as error:  # whatever an operator raises is what its author wants to know
        row.problems.append(f"{case.label}: {_first_lines(error)}")
        return
    if differentiates and is_cpus_type:
        _gradients(case, row, actual, expected, there, here, tolerance or opinfo.TOLERANCES.get(dtype))


def _as_float(leaf: Any, dtype: torch.dtype) -> Any:
    return leaf.float() if isinstance(leaf, torch.Tensor) and leaf.dtype is dtype else leaf


def _tensors(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    tree_map(lambda leaf: found.append(leaf) if isinstance(leaf, torch.Tensor) else None, value)
    return found


def _compare(actual: Any, expected: Any, tolerance: tuple[float, float] | None, check_dtype: bool = True) -> None:
    limits = {"atol": tolerance[0], "rtol": tolerance[1]} if tolerance else {}
    ours, theirs = _tensors(actual), _tensors(expected)
    assert len(ours) == len(theirs), f"{len(ours)} results instead of {len(theirs)}"
    for one, other in zip(ours, theirs, strict=True):
        assert one.is_mps, f"the result is on {one.device}"
        cpu = one.detach().cpu().resolve_conj()
        is_inexact = cpu.is_floating_point() or cpu.is_complex()
        torch.testing.assert_close(
            cpu, other.detach().resolve_conj(), equal_nan=True, check_dtype=check_dtype, **(limits if is_inexact else {})
        )


def _gradients(
    case: Case, row: Row, actual: Any, expected: Any, there: Any, here: Any, tolerance: tuple[float, float] | None
) -> None:
    pairs = [
        (one, other) for one, other in zip(_tensors(actual), _tensors(expected), strict=True) if other.requires_grad
    ]
    wanted = [(one, other) for one, other in zip(_tensors(there), _tensors(here), strict=True) if other.requires_grad]
    if not pairs or not wanted:
        return
    row.gradients += 1
    seeds = [torch.randn_like(other) for _, other in pairs]
    try:
        cpu = torch.autograd.grad([other for _, other in pairs], [one for _, one in wanted], seeds, allow_unused=True)
        mps = torch.autograd.grad(
            [one for one, _ in pairs], [one for one, _ in wanted], [on_mps(seed) for seed in seeds], allow_unused=True
        )
        _compare([one for one in mps if one is not None], [one for one in cpu if one is not None], tolerance)
        row.right_gradients += 1
    except Exception as error:  # as above
        row.problems.append(f"{case.label}, gradient: {_first_lines(error)}")


def _large(case: Case, row: Row, watch: Watch) -> None:
    row.calls += 1
    try:
        actual, kernels, _ = watch.during(lambda: case.call(*_moved(case.inputs)))
        row.ran += bool(kernels)
        one = case.call(*(tensor[:1] for tensor in case.inputs))
        for start in (0, 2**31 - 8, checklist.LARGE - 8):
            _compare(actual[start : start + 8], one.expand(8).contiguous(), opinfo.TOLERANCES.get(actual.dtype))
        row.right += bool(kernels)
    except Exception as error:  # as above
        row.problems.append(f"{case.label}: {_first_lines(error)}")


def _error_inputs(info: Any) -> Iterator[str]:
    """What PyTorch wants to be an error on MPS and is none, or another one."""
    if info.error_inputs_func is None or opinfo.expectation(info, "test_error_inputs", torch.float32).is_skipped:
        return
    for number, error in enumerate(info.error_inputs("mps")):
        sample = error.sample_input
        try:
            info.op(sample.input, *sample.args, **sample.kwargs)
            torch.mps.synchronize()
        except error.error_type as raised:
            if not re.search(error.error_regex, str(raised)):
                yield f"{info.name}: error input {number} says {str(raised)!r} instead of {error.error_regex!r}"
        except Exception as raised:  # as above
            yield f"{info.name}: error input {number} raises {type(raised).__name__} instead of {error.error_type.__name__}"
        else:
            yield f"{info.name}: error input {number} is accepted; {error.error_regex!r} is expected"


def _first_lines(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' / '.join(lines[:4])}"


def _report(operator: str, rows: dict[torch.dtype, Row], errors: list[str]) -> bool:
    """Prints the table of an operator.

    Returns:
        Whether it is right for all of its types, and Metal kernels computed it.
    """
    print(f"\n{operator}")
    print(f"{'type':<11}{'registered':<12}{'run':<11}{'right':<11}{'gradients':<11}missing or wrong")
    problems = list(errors)
    for dtype, row in rows.items():
        registered = {None: "?", True: "yes", False: "no"}[row.registered]
        remark = row.note
        if not row.excused and row.calls == 0:
            remark = "no sample"
        elif not row.excused and row.ran == 0:
            remark = "missing: no Metal kernel"
        elif not row.excused and row.right < row.calls:
            remark = f"{row.calls - row.right} wrong or missing"
        print(
            f"{name_of(dtype):<11}{registered:<12}{f'{row.ran}/{row.calls}':<11}{f'{row.right}/{row.calls}':<11}"
            f"{f'{row.right_gradients}/{row.gradients}':<11}{remark}".rstrip()
        )
        if not row.excused:
            problems += [f"{name_of(dtype)}, {problem}" for problem in row.problems]
    shown = problems if os.environ.get("METALLOID_ATEN_ALL") else problems[:20]
    for problem in shown:
        print(f"  {problem}")
    if len(shown) < len(problems):
        print(f"  and {len(problems) - len(shown)} more")
    if not any(row.ran for row in rows.values()):
        print(f"  no Metal kernel ran for '{operator}'")
        return False
    return not problems
