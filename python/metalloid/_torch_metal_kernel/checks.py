"""What TorchMetalKernel demands of its constructor's arguments, with the errors of Core AI's class."""

from __future__ import annotations

import inspect
import math
import typing
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from .._arguments.numbers import described, flag, number, real, text

_input_types = (torch.Tensor, float, bool, int)


def check_names(name: str, input_names: Sequence[str], result_names: Sequence[str]) -> None:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"Kernel name must be a non-empty string, got {name!r}")
    if not name.isidentifier():  # of the operator and, with a suffix, of the Metal function
        raise RuntimeError(f"Kernel name must be an identifier, got {name!r}")
    if not result_names:
        raise ValueError("result_names must contain at least one entry")
    for what, names in (("input_names", input_names), ("result_names", result_names)):
        if not isinstance(names, (list, tuple)) or not all(isinstance(each, str) for each in names):
            raise TypeError(f"{what} must be a list of str, not {described(names)}")
        for each in names:
            each.encode()  # UnicodeEncodeError for halves of surrogate pairs
    name.encode()
    for label, names in (("input", input_names), ("result", result_names)):
        repeated = sorted(each for each, count in Counter(names).items() if count > 1)
        if repeated:
            raise ValueError(f"Duplicate {label} names: {repeated}")
    overlap = sorted(set(input_names) & set(result_names))
    if overlap:
        raise ValueError(f"Names appear in both input_names and result_names: {overlap}")


def check_declaration(
    src: Any, torch_defn: Any, metal_params: Any, helper_src: Any, template_dtypes: Any, verify: Any, rtol: Any, atol: Any
) -> None:
    """The types of all that is not a name."""
    text("src", src)
    if helper_src is not None:
        text("helper_src", helper_src)
    if not callable(torch_defn):
        raise TypeError(f"torch_defn must be a function, not {described(torch_defn)}")
    fields = ("name", "dtype", "attr")
    if metal_params is not None and not (
        isinstance(metal_params, (list, tuple))
        and all(isinstance(getattr(each, field, None), str) for each in metal_params for field in fields)
    ):
        raise TypeError(f"metal_params must be a list of metalloid.MetalParameter, not {described(metal_params)}")
    if template_dtypes is not None and not (
        isinstance(template_dtypes, Mapping)
        and all(isinstance(each, str) for pair in template_dtypes.items() for each in pair)
    ):
        raise TypeError(f"template_dtypes must map str to str, not {described(template_dtypes)}")
    if verify is not None:
        flag("verify", verify)
    for what, value in (("rtol", rtol), ("atol", atol)):
        if value is not None:
            real(what, value)


_symbols = (torch.SymInt, torch.SymFloat)  # of torch.export


def check_extents(what: str, extents: Any) -> None:
    """Three numbers. Floats are allowed, as in `n / 4`."""
    if not isinstance(extents, (list, tuple)):
        raise TypeError(f"{what} must be a 3-tuple, not {described(extents)}")
    if len(extents) != 3:
        raise ValueError(f"{what} must be a 3-tuple, got {len(extents)} elements: {extents!r}")
    _check_integers(what, extents)


def _check_integers(what: str, extents: Sequence[Any]) -> None:
    for extent in extents:
        if isinstance(extent, _symbols):
            continue
        plain = number(extent)
        if plain is None:
            raise TypeError(f"{what} must hold integers, not {described(extent)}")
        if isinstance(plain, float) and not math.isfinite(plain):
            raise ValueError(f"{what} must hold integers, not {extent}")


def check_shapes(shapes: Any, result_names: Sequence[str]) -> None:
    if not isinstance(shapes, (list, tuple)):
        raise TypeError(f"result_shapes must be a list with the shape of each result, not {described(shapes)}")
    if len(shapes) != len(result_names):
        raise ValueError(
            "result_shapes must contain one shape per result name; "
            f"expected {len(result_names)} (for {list(result_names)}), got {len(shapes)}"
        )
    for name, shape in zip(result_names, shapes, strict=True):
        if not isinstance(shape, (list, tuple)):
            raise TypeError(
                f"result_shapes must contain one shape per result name, got {described(shape)} for {name!r}"
            )
        _check_integers(f"result_shapes: the shape of {name!r}", shape)


def plain_inputs(values: Sequence[Any], annotations: Sequence[Any]) -> list[Any]:
    """Python's numbers for NumPy's where a number is wanted."""
    result = []
    for value, annotation in zip(values, annotations, strict=True):
        if annotation is not torch.Tensor and not isinstance(value, (int, float, torch.Tensor, *_symbols)):
            plain = number(value)
            value = value if plain is None else plain
        result.append(value)
    return result


def check_inputs(signature: inspect.Signature, input_names: Sequence[str]) -> None:
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(
                "custom kernels do not support variadic parameters (*args / **kwargs); "
                f"got parameter {parameter.name!r} with kind {parameter.kind.description}"
            )
        if parameter.annotation not in _input_types:
            raise TypeError(
                "custom kernels only support `torch.Tensor`, `float`, `bool` and `int` inputs, "
                f"got {parameter.annotation}"
            )
    if len(signature.parameters) != len(input_names):
        raise ValueError(
            "torch function should have same number of parameters as specified by input names, "
            f"expected {len(input_names)}, got {len(signature.parameters)}"
        )


def return_kind(annotation: Any, result_names: Sequence[str]) -> str:
    """``"tensor"``, ``"list"`` or ``"tuple"``."""
    names = list(result_names)
    if annotation is torch.Tensor:
        if len(names) != 1:
            raise ValueError(
                f"torch_defn returns a single torch.Tensor, but result_names has {len(names)} entries: {names}"
            )
        return "tensor"
    members = typing.get_args(annotation)
    if members and all(member is torch.Tensor for member in members):
        if typing.get_origin(annotation) is list:
            return "list"
        if typing.get_origin(annotation) is tuple:
            if len(members) != len(names):
                raise ValueError(
                    f"torch_defn returns tuple of {len(members)} tensors, "
                    f"but result_names has {len(names)} entries: {names}"
                )
            return "tuple"
    raise TypeError(
        "Metal kernels only support return types of `torch.Tensor`, `list[torch.Tensor]`, or "
        "`tuple[torch.Tensor]` (with a concrete number of tuple members). "
        f"The torch callback has a return type of {annotation!s}"
    )


def check_templates(templates: dict[str, str], input_names: Sequence[str]) -> None:
    missing = set(templates) - set(input_names)
    if missing:
        raise ValueError(
            f"Inputs {missing} not specified as part of the kernel's input names. All input names provided for "
            "templates must correspond to entries in the `input_names` list."
        )
    repeated = [text for text, count in Counter(templates.values()).items() if count > 1]
    if repeated:
        raise ValueError(
            f"Provided duplicated template strings {repeated}. Each template string must be unique."
        )


def augmented_signature(signature: inspect.Signature, result_names: Sequence[str]) -> inspect.Signature:
    """torch_defn's parameters, then the grid and the results' shapes. Raises ValueError if they do not go together."""
    added = ["threads_per_grid", "threads_per_thread_group", *(f"result_shape_{name}" for name in result_names)]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind, annotation=list[int]) for name in added]
    return inspect.Signature([*signature.parameters.values(), *parameters])


def signature_of(torch_defn: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(torch_defn, eval_str=True)


def schema_of(signature: inspect.Signature, kind: str, result_count: int) -> str:
    """The custom operator's arguments and results in torch's notation."""
    names = {torch.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool"}
    arguments = ", ".join(
        f"{names.get(parameter.annotation, 'SymInt[]')} {parameter.name}"
        for parameter in signature.parameters.values()
    )
    if kind == "list":
        results = "Tensor[]"
    elif result_count == 1:
        results = "Tensor"
    else:
        results = f"({', '.join(['Tensor'] * result_count)})"
    return f"({arguments}) -> {results}"
