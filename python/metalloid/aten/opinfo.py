"""What PyTorch's own tests know of an operator: OpInfo, and its lists for MPS (torch/testing/_internal)."""

from __future__ import annotations

import functools
import importlib.util
import sys
import types
import unittest
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

DTYPES = (
    torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex32,
    torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
)  # fmt: skip
GRADIENT_DTYPES = (torch.float32, torch.float16)
# PyTorch's for MPS (atol, rtol): kernels compute halves in float, the CPU in halves.
TOLERANCES = {torch.float16: (1e-2, 2e-2), torch.complex32: (1e-2, 2e-2), torch.bfloat16: (5e-2, 5e-2)}


class Expectation(NamedTuple):
    """What PyTorch's lists say of a test.

    Attributes:
        fails: PyTorch expects it to fail on MPS.
        is_skipped: PyTorch does not run it there.
        tolerance: (atol, rtol), None: the type's usual ones.
    """

    fails: bool
    is_skipped: bool
    tolerance: tuple[float, float] | None


@functools.lru_cache(maxsize=1)
def _database() -> Sequence[Any]:
    if importlib.util.find_spec("expecttest") is None:
        # PyTorch's module of tests wants this one for assertions that OpInfo has nothing to do with.
        module = types.ModuleType("expecttest")
        module.TestCase, module.ACCEPT = unittest.TestCase, False
        sys.modules["expecttest"] = module
    arguments, sys.argv = sys.argv, sys.argv[:1]  # they are no options of PyTorch's tests
    try:
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.common_mps import mps_ops_grad_modifier, mps_ops_modifier
    finally:
        sys.argv = arguments

    mps_ops_modifier(op_db)
    mps_ops_grad_modifier(op_db)
    return op_db


def infos(operator: str) -> list[Any]:
    """The OpInfos of an operator by its name in native_functions.yaml."""
    found = [info for info in _database() if operator in (info.aten_name, info.name)]
    return [info for info in found if info.aten_name == operator] or found


def expectation(info: Any, test: str, dtype: torch.dtype) -> Expectation:
    """Of ``test_output_match`` and the like."""
    fails = is_skipped = False
    tolerance = TOLERANCES.get(dtype)
    for decorator in info.get_decorators("TestConsistency", test, "mps", dtype, {}):
        name = getattr(decorator, "__qualname__", "")
        fails = fails or decorator is unittest.expectedFailure
        is_skipped = is_skipped or name.startswith("skip")
        override = getattr(decorator, "d", None)
        if isinstance(override, dict) and dtype in override:
            value = override[dtype]
            tolerance = (value.atol, value.rtol) if hasattr(value, "atol") else (value, tolerance[1] if tolerance else 0.0)
    return Expectation(fails, is_skipped, tolerance)
