"""``metalloid aten test``: an operator on Metal kernels against the CPU, type by type.

OpInfo's samples as PyTorch's test_output_match and test_output_grad_match run them, with its lists for MPS; its error
inputs; the cases of checklist.py. What counts is what Metal kernels computed: calls that ran none are not right.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from ..mps import install_on_import
from ..mps._plugin import entries
from ..mps._plugin.operators import find as find_folder
from . import build, checklist, contributed, opinfo
from .checklist import Case, name_of
from .comparison import (
    NOT_ON_CPU,
    Watch,
    compare,
    error_inputs,
    first_lines,
    gradients,
    is_on_mps,
    moved,
    on_cpu,
    tensors,
    with_gradients,
)  # fmt: skip
from .derivatives import derivative_problems


@dataclasses.dataclass
class Row:
    """What is known of an operator for one type.

    Attributes:
        registered: whether a kernel of the folder's Metal sources runs for the type; None: there is no folder.
        calls: that have elements to compute.
        ran: of them, those that ran a Metal kernel.
        right: of them, those whose results are the CPU's.
        gradients, right_gradients: of samples with gradients.
        problems: what went wrong, a line each.
        note: why nothing was tried, or what PyTorch expects.
        excused: what goes wrong is as expected.
        refused: what the CPU said of the first sample that it does not compute.
    """

    registered: bool | None = None
    calls: int = 0
    ran: int = 0
    right: int = 0
    gradients: int = 0
    right_gradients: int = 0
    problems: list[str] = dataclasses.field(default_factory=list)
    note: str = ""
    excused: bool = False
    refused: str = ""


@dataclasses.dataclass(frozen=True)
class Tested:
    """What is tested, and by what.

    Attributes:
        operators: by name.
        elementwise: those that compute over a TensorIterator, by their entries.
        names: functions that the folder registers; None: there is no folder.
        differentiable: new operators with derivatives of the folder's.
        sources: the folder's Metal sources.
        infos: the contributor's OpInfos.
    """

    operators: list[str]
    elementwise: set[str] = dataclasses.field(default_factory=set)
    names: set[str] | None = None
    differentiable: set[str] = dataclasses.field(default_factory=set)
    sources: list[str] = dataclasses.field(default_factory=list)
    infos: list[Any] = dataclasses.field(default_factory=list)


def run(folder: str | None, names: Sequence[str], samples: int, large: bool, opinfos: str | None = None) -> bool:
    """Tests operators and prints a table for each.

    Args:
        folder: is built first; None: Metalloid's own operators.
        names: operators; none: all that the folder registers.
        samples: at most so many of OpInfo's for each type; 0: all.
        large: also more than 2^31 elements.
        opinfos: a file with OpInfos of the contributor's; None: the folder's, if it has PyTorch's file of them.

    Returns:
        Whether all is right and Metal kernels computed it.
    """
    install_on_import()
    tested = _of_folder(folder, names) if folder is not None else _of_ours(names)
    if not tested.operators:
        print("metalloid aten test: name operators with --op, or a folder", file=sys.stderr)
        return False
    tested.infos.extend(_contributed(folder, opinfos, tested))
    watch = Watch(tested.sources)
    fine = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for operator in tested.operators:
            fine = _report(operator, *_test(operator, tested, watch, samples, large)) and fine
    return fine


def _contributed(folder: str | None, opinfos: str | None, tested: Tested) -> list[Any]:
    file = pathlib.Path(opinfos) if opinfos else contributed.find(pathlib.Path(folder)) if folder else None
    if file is None:
        return []
    try:
        return contributed.infos(file, tested.operators, tested.differentiable)
    except contributed.CannotRead as error:
        if opinfos:
            raise
        print(f"{error}; the installed PyTorch's OpInfos are used", file=sys.stderr)
        return []


def _of_folder(folder: str, names: Sequence[str]) -> Tested:
    built = build.build(folder, names)
    functions = [one for one in built.operators.generated.functions if one.key == "MPS"]
    files = find_folder(folder).yamls
    read = [entry for file in files for entry in entries.read(file.read_text(encoding="utf-8"), str(file))]
    return Tested(
        operators=list(dict.fromkeys(entries.base_of(one.name) for one in functions)),
        elementwise=_elementwise(read),
        names={name for one in functions for name in one.registers},
        differentiable={entries.base_of(name) for name in built.operators.generated.differentiable},
        sources=[str(file) for file in built.kernels],
    )


def _of_ours(names: Sequence[str]) -> Tested:
    operators = dict.fromkeys(entries.base_of(name.removeprefix("aten::")) for name in names)
    return Tested(list(operators), _elementwise(entries.wheel_entries().values()))


def _elementwise(read: Iterable[entries.Entry]) -> set[str]:
    return {entry.base_name for entry in read if entry.data.get("structured_inherits") == "TensorIteratorBase"}


def _test(
    operator: str, tested: Tested, watch: Watch, samples: int, large: bool
) -> tuple[dict[torch.dtype, Row], list[str], str]:
    """What is known for each type, what is wrong besides, and why nothing was tried where that is so."""
    infos = opinfo.named(operator, tested.infos) or opinfo.infos(operator)
    overloads, why = checklist.overloads(operator, tested.elementwise, tested.names)
    if infos:  # its samples are of this operator; ours are for what is known of its form
        overloads = [overload for overload in overloads if overload.is_elementwise]
    differentiates = operator in tested.differentiable and not infos
    torch.manual_seed(0)
    rows = {}
    for dtype in opinfo.DTYPES:
        row = rows[dtype] = Row()
        supported = [info for info in infos if dtype in info.supported_dtypes("mps")]
        if infos and not supported:
            row.note = "not a type of this operator"
            row.excused = True
            _probe(operator, overloads, dtype, row, watch)
        else:
            for info in supported:
                _opinfo_samples(info, dtype, row, watch, samples)
            for overload in overloads:
                for case in checklist.cases(operator, overload, dtype):
                    if len(overloads) > 1:
                        case = case._replace(label=f"{overload.name}, {case.label}")
                    has_gradient = differentiates and dtype in opinfo.GRADIENT_DTYPES and case.is_functional
                    if has_gradient:
                        case = case._replace(inputs=with_gradients(case.inputs, dtype))
                    _call(case, dtype, row, watch, None, has_gradient)
                if large and (big := checklist.large(overload, dtype)) is not None:
                    _large(big, row, watch)
        row.registered = watch.has_seen_sources() if tested.names is not None else None
    errors = []
    for info in infos:
        if not opinfo.expectation(info, "test_error_inputs", torch.float32).is_skipped:
            errors += [f"{info.name}: error input {number} {problem}" for number, problem in error_inputs(info) if problem]
    if operator in tested.differentiable:
        errors += derivative_problems(overloads)
    return rows, errors, _why_nothing(operator, infos, why, rows)


def _why_nothing(operator: str, infos: Sequence[Any], why: str, rows: dict[torch.dtype, Row]) -> str:
    refused = next((row.refused for row in rows.values() if row.refused), "")
    if refused:
        return f"the CPU, which results are compared with, computes no sample of '{operator}': {refused}"
    if infos:
        notes = dict.fromkeys(row.note for row in rows.values() if row.note)
        return f"by the OpInfo of '{infos[0].name}' no type is to be tried on MPS: {', '.join(notes) or 'it has no samples'}"
    return f"there is no OpInfo of '{operator}', and {why}; give one, or sample_inputs_{operator}, by --opinfo FILE"


def _probe(operator: str, overloads: Sequence[checklist.Overload], dtype: torch.dtype, row: Row, watch: Watch) -> None:
    """One call of a type that is not to be tried, for whether a kernel is there all the same."""
    for overload in overloads:
        for case in checklist.cases(operator, overload, dtype):
            if all(tensor.numel() for tensor in tensors(case.inputs)):
                with contextlib.suppress(Exception):  # whatever an operator raises of such a type
                    watch.during(lambda: case.call(*moved(case.inputs)))
                break


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
    try:
        expected, is_cpus_type = on_cpu(lambda inputs: case.call(*inputs, **into), here, dtype, case.is_functional)
    except NOT_ON_CPU as error:
        row.refused = row.refused or first_lines(error)
        return
    computes = any(leaf.numel() > 0 for leaf in tensors(expected))
    row.calls += computes
    tolerance = tolerance or opinfo.TOLERANCES.get(dtype)
    try:
        actual, launches, fallbacks = watch.during(lambda: case.call(*there, **into_there), not case.is_mixed)
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


def _report(operator: str, rows: dict[torch.dtype, Row], errors: list[str], why_nothing: str) -> bool:
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
        print(f"  nothing was tried: {why_nothing}")
        return False
    if not any(row.ran for row in rows.values()):
        print(f"  no Metal kernel ran for '{operator}'")
        return False
    return not problems
