"""``metalloid aten test``: an operator on Metal kernels against the CPU, type by type.

OpInfo's samples as PyTorch's test_output_match and test_output_grad_match run them, with its lists for MPS; its error
inputs; the cases of checklist.py. What counts is what Metal kernels computed: calls that ran none are not right.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from .. import _core
from ..mps import install_on_import
from ..mps._plugin import entries
from . import build, checklist, opinfo
from .checklist import Case, name_of
from .comparison import NOT_ON_CPU, Watch, compare, error_inputs, first_lines, gradients, is_on_mps, moved, on_cpu, tensors


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
    errors = []
    for info in infos:
        if not opinfo.expectation(info, "test_error_inputs", torch.float32).is_skipped:
            errors += [f"{info.name}: error input {number} {problem}" for number, problem in error_inputs(info) if problem]
    return rows, errors


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
            return info.op(*inputs, **(moved(sample.kwargs) if is_on_mps(inputs) else sample.kwargs))

        case = Case(label, call, (sample.input, *sample.args))
        differentiates = differentiable and not gradient.is_skipped and not gradient.fails
        _call(case, dtype, row, watch, expected.tolerance, differentiates)
        if number < 8:
            other = sample.noncontiguous()
            _call(Case(f"{label}, noncontiguous", call, (other.input, *other.args)), dtype, row, watch, expected.tolerance)


def _call(
    case: Case, dtype: torch.dtype, row: Row, watch: Watch, tolerance: tuple[float, float] | None,
    differentiates: bool = False,
) -> None:  # fmt: skip
    """Runs a case on both devices and compares."""
    here, there = case.inputs, moved(case.inputs)
    into = {} if case.out is None else {"out": case.out}
    into_there = {} if case.out is None else {"out": moved(case.out)}
    if case.is_in_place:
        there = moved(here)
        here = tree_map(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, here)
    may_widen = case.out is None and not case.is_in_place
    try:
        expected, is_cpus_type = on_cpu(lambda inputs: case.call(*inputs, **into), here, dtype, may_widen)
    except NOT_ON_CPU:
        return
    computes = any(leaf.numel() > 0 for leaf in tensors(expected))
    row.calls += computes
    tolerance = tolerance or opinfo.TOLERANCES.get(dtype)
    try:
        actual, launches, fallbacks = watch.during(lambda: case.call(*there, **into_there))
        row.ran += computes and launches > 0
        compare(actual, expected, tolerance, is_cpus_type)
        if computes and launches == 0:
            raise AssertionError(f"no Metal kernel ran ({', '.join(fallbacks) or 'nothing'} on the CPU)")
        row.right += computes
    except Exception as error:  # whatever an operator raises is what its author wants to know
        row.problems.append(f"{case.label}: {first_lines(error)}")
        return
    if not differentiates or not is_cpus_type:
        return
    try:
        if (found := gradients(actual, expected, there, here)) is None:
            return
        row.gradients += 1
        compare(*found, tolerance)
        row.right_gradients += 1
    except Exception as error:  # as above
        row.problems.append(f"{case.label}, gradient: {first_lines(error)}")


def _large(case: Case, row: Row, watch: Watch) -> None:
    row.calls += 1
    try:
        actual, launches, _ = watch.during(lambda: case.call(*moved(case.inputs)))
        row.ran += launches > 0
        one = case.call(*(tensor[:1] for tensor in case.inputs))
        for start in (0, 2**31 - 8, checklist.LARGE - 8):
            compare(actual[start : start + 8], one.expand(8).contiguous(), opinfo.TOLERANCES.get(actual.dtype))
        row.right += launches > 0
    except Exception as error:  # as above
        row.problems.append(f"{case.label}: {first_lines(error)}")


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
    if not any(row.calls for row in rows.values()):
        print(
            f"  nothing was tried: PyTorch has no OpInfo of '{operator}', and its entries have no tag 'pointwise'; "
            f"call torch.ops.aten.{operator} in a test of your own"
        )
        return False
    if not any(row.ran for row in rows.values()):
        print(f"  no Metal kernel ran for '{operator}'")
        return False
    return not problems
