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
TOLERANCES = {torch.float16: (2e-2, 1e-2), torch.complex32: (2e-2, 1e-2), torch.bfloat16: (5e-2, 5e-2)}


# Sums of products, which other orders of the terms round otherwise; bytes of images, where half a level may go either way.
PRODUCTS = {
    "mm", "matmul", "bmm", "mv", "addmm", "addmv", "addbmm", "baddbmm", "addr", "__rmatmul__", "einsum", "tensordot", "kron",
    "inner", "chain_matmul", "linalg.multi_dot", "nn.functional.linear", "nn.functional.bilinear", "cov", "corrcoef",
    "nn.functional.scaled_dot_product_attention", "nn.functional.multi_head_attention_forward", "cdist",
}  # fmt: skip
CONVOLUTIONS = ("nn.functional.conv", "nn.functional.unfold")
IMAGES = {
    "nn.functional.interpolate", "nn.functional.upsample_bilinear", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
    "torch.ops.aten._upsample_bilinear2d_aa",
}  # fmt: skip

Tolerance = tuple[float, float]


class Expectation(NamedTuple):
    """What PyTorch's lists say of a test.

    Attributes:
        fails: PyTorch expects it to fail on MPS.
        is_skipped: PyTorch does not run it there.
        tolerance: (atol, rtol), None: the type's usual ones.
    """

    fails: bool
    is_skipped: bool
    tolerance: Tolerance | None


@functools.lru_cache(maxsize=1)
def _database() -> Sequence[Any]:
    if importlib.util.find_spec("expecttest") is None:
        # PyTorch's module of tests wants this one for assertions that OpInfo has nothing to do with.
        module: Any = types.ModuleType("expecttest")
        module.TestCase, module.ACCEPT = unittest.TestCase, False
        sys.modules["expecttest"] = module
    arguments, sys.argv = sys.argv, sys.argv[:1]  # they are no options of PyTorch's tests
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    finally:
        sys.argv = arguments
    apply_lists_for_mps(op_db)
    return op_db


def apply_lists_for_mps(infos: Sequence[Any]) -> None:
    """Adds what PyTorch's tests expect on MPS, by the operators' names."""
    from torch.testing._internal.common_mps import mps_ops_grad_modifier, mps_ops_modifier

    mps_ops_modifier(infos)
    mps_ops_grad_modifier(infos)


def all_infos() -> Sequence[Any]:
    """PyTorch's whole list."""
    return _database()


def _usual_tolerance(name: str, dtype: torch.dtype) -> Tolerance | None:
    if dtype is torch.uint8 and name in IMAGES:
        return (1.0, 0.0)
    if dtype in (torch.float32, torch.complex64):
        if name.startswith(("fft.", "_refs.fft.")):
            return (3e-5, 3e-5)
        if name in PRODUCTS or name.startswith(CONVOLUTIONS):
            return (1e-4, 3e-5)
    if dtype in (torch.float16, torch.bfloat16) and (name in PRODUCTS or name.startswith(CONVOLUTIONS)):
        return (5e-2, 5e-2) if dtype is torch.float16 else (5e-2, 1e-1)
    return TOLERANCES.get(dtype)


def infos(operator: str) -> list[Any]:
    """The OpInfos of an operator by its name in native_functions.yaml."""
    return named(operator, _database())


def named(operator: str, infos: Sequence[Any]) -> list[Any]:
    """Those of an operator among others."""
    found = [info for info in infos if operator in (info.aten_name, info.name)]
    return [info for info in found if info.aten_name == operator] or found


def expectation(info: Any, test: str, dtype: torch.dtype) -> Expectation:
    """Of ``test_output_match`` and the like."""
    fails = is_skipped = False
    tolerance = _usual_tolerance(info.name, dtype)
    for decorator in info.get_decorators("TestConsistency", test, "mps", dtype, {}):
        name = getattr(decorator, "__qualname__", "").partition(".")[0]
        fails = fails or decorator is unittest.expectedFailure
        is_skipped = is_skipped or name in ("skip", "skipMPS")  # others are about CUDA, the CPU's LAPACK, ...
        override = getattr(decorator, "d", None)
        if isinstance(override, dict) and dtype in override:
            value = override[dtype]
            tolerance = (value.atol, value.rtol) if hasattr(value, "atol") else (value, tolerance[1] if tolerance else 0.0)
    return Expectation(fails, is_skipped, tolerance)
