"""DLPack hands out the device's memory without an operator: what kernels have reported is raised before."""

from __future__ import annotations

import functools
from typing import Any

import torch


def _after_waiting(export: Any) -> Any:
    @functools.wraps(export)
    def called(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(tensor, torch.Tensor) and tensor.is_mps:
            torch.mps.synchronize()
        return export(tensor, *args, **kwargs)

    return called


def install() -> None:
    torch.Tensor.__dlpack__ = _after_waiting(torch.Tensor.__dlpack__)
    torch.utils.dlpack.to_dlpack = torch.to_dlpack = _after_waiting(torch.to_dlpack)
