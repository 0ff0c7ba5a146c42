"""What torch.compile expects of convolutions' results: wheels for Linux were compiled without the backend for MPS."""

from __future__ import annotations

import functools
from typing import Any

import torch


def _is_channels_last(tensor: torch.Tensor) -> bool:
    if tensor.dim() not in (4, 5) or all(size == 1 for size in tensor.shape[1:]):
        return False
    from torch._prims_common import make_channels_last_strides_for

    return tuple(tensor.stride()) == tuple(make_channels_last_strides_for(tensor.shape))


def _format(input: torch.Tensor, weight: torch.Tensor) -> torch.memory_format:
    """As operations/Convolution.cpp makes them."""
    if not (_is_channels_last(input) or _is_channels_last(weight)):
        return torch.contiguous_format
    return torch.channels_last_3d if input.dim() == 5 else torch.channels_last


def install() -> None:
    original = torch._C._conv_determine_backend_memory_format

    @functools.wraps(original)
    def determine(input: torch.Tensor, weight: torch.Tensor, backend: Any) -> torch.memory_format:
        return _format(input, weight) if input.is_mps else original(input, weight, backend)

    torch._C._conv_determine_backend_memory_format = determine
