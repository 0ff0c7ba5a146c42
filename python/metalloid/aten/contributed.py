"""OpInfos of a contributor's: of a Python file that is written as PyTorch's common_methods_invocations.py.

What counts of it: OpInfos in ``op_db`` or in any variable, alone or in lists; and functions ``sample_inputs_NAME`` (with
``error_inputs_NAME``) of operators that have no OpInfo, which are given one.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from collections.abc import Collection, Iterator
from types import ModuleType
from typing import Any

import torch

from . import opinfo

PLACE = "torch/testing/_internal/common_methods_invocations.py"


class CannotRead(ValueError):
    """The file has no OpInfos, or does not run; the text says why."""


def find(folder: pathlib.Path) -> pathlib.Path | None:
    """The file that a folder has at PyTorch's place."""
    file = folder / PLACE
    return file if file.is_file() else None


def infos(file: pathlib.Path, operators: Collection[str], differentiable: Collection[str]) -> list[Any]:
    """The OpInfos of operators.

    Args:
        file: Python.
        operators: by their names in native_functions.yaml.
        differentiable: those of them that have derivatives.

    Raises:
        CannotRead: it cannot be run.
    """
    opinfo.all_infos()  # PyTorch's modules of tests are there then, whatever the file imports of them
    module = _run(file)
    found = list({id(info): info for info in _all_of(module)}.values())
    chosen = [info for info in found if not {info.name, info.aten_name}.isdisjoint(operators)]
    named = {name for info in chosen for name in (info.name, info.aten_name)}
    for operator in operators:
        samples = getattr(module, f"sample_inputs_{operator}", None)
        if operator not in named and callable(samples):
            chosen.append(_made(operator, samples, getattr(module, f"error_inputs_{operator}", None), operator in differentiable))
    opinfo.apply_lists_for_mps(chosen)
    return chosen


def _run(file: pathlib.Path) -> ModuleType:
    name = "metalloid_contributed_opinfos"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise CannotRead(f"{file}: it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where pickle and dataclasses look for what it defines
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the file raises
        at = _line_in(file, error)
        raise CannotRead(f"{file}{at}: {type(error).__name__}: {error}") from error
    return module


def _line_in(file: pathlib.Path, error: BaseException) -> str:
    line = error.lineno if isinstance(error, SyntaxError) else None
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(file):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return f":{line}" if line else ""


def _all_of(module: ModuleType) -> Iterator[Any]:
    from torch.testing._internal.opinfo.core import OpInfo

    for value in vars(module).values():
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, OpInfo):
                yield one


def _made(operator: str, samples: Any, errors: Any, is_differentiable: bool) -> Any:
    from torch.testing._internal.opinfo.core import OpInfo

    packet = getattr(torch.ops.aten, operator)
    return OpInfo(
        operator,
        op=lambda *inputs, **options: packet(*inputs, **options),
        dtypes=set(opinfo.DTYPES),
        sample_inputs_func=samples,
        error_inputs_func=errors,
        supports_autograd=is_differentiable,
        supports_out="out" in packet.overloads(),
    )
