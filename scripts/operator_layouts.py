"""Tensors of samples in other layouts: with gaps, transposed, without strides of their own, with channels last, amid memory.

Memory that is not of a tensor is NaN, or the complement of its integers: whoever reads it shows.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.utils._pytree import tree_map

STEPPED, TRANSPOSED, EXPANDED, CHANNELS_LAST, OFFSET = NAMES = "stepped", "transposed", "expanded", "channels last", "offset"
OFFSET_ELEMENTS = 3  # no multiple of what vectors are aligned to


def arranged(tensor: torch.Tensor, layout: str) -> torch.Tensor | None:
    """The tensor in this layout; None: it has no such layout.

    Expanded ones have other values: the first of each row of a dimension. They are floating, since an index that is there
    twice is undefined for some operators.
    """
    if tensor.layout is not torch.strided or tensor.numel() < 2 or tensor.is_conj() or tensor.is_neg():
        return None
    plain, result = tensor.detach(), None
    if layout == STEPPED:
        result = torch.stack((plain, _other_than(plain)), -1).flatten(-2)[..., ::2]
    elif layout == TRANSPOSED:
        backward = tuple(reversed(range(plain.dim())))
        result = plain.permute(backward).contiguous().permute(backward)
    elif layout == EXPANDED and (plain.is_floating_point() or plain.is_complex()):
        dimension = next(axis for axis, size in enumerate(plain.size()) if size > 1)
        result = plain.narrow(dimension, 0, 1).clone().expand(plain.size())
    elif layout == CHANNELS_LAST and plain.dim() in (4, 5):
        result = plain.contiguous(memory_format=torch.channels_last if plain.dim() == 4 else torch.channels_last_3d)
    elif layout == OFFSET:
        flat = plain.flatten()
        around = _other_than(flat)[:1].expand(OFFSET_ELEMENTS)
        result = torch.cat((around, flat, around))[OFFSET_ELEMENTS : OFFSET_ELEMENTS + flat.numel()].view(plain.size())
    if result is None or (result.stride() == plain.stride() and result.storage_offset() == plain.storage_offset()):
        return None
    return result.requires_grad_(tensor.requires_grad)


def arranged_sample(sample: Any, layout: str) -> Any | None:
    """OpInfo's sample with all tensors that have this layout in it; None: there are none."""
    is_changed = False

    def arrange(leaf: Any) -> Any:
        nonlocal is_changed
        other = arranged(leaf, layout) if isinstance(leaf, torch.Tensor) else None
        is_changed = is_changed or other is not None
        return leaf if other is None else other

    result = copy.copy(sample)
    result.input, result.args, result.kwargs = tree_map(arrange, (sample.input, sample.args, sample.kwargs))
    return result if is_changed else None


def arranged_seed(seed: torch.Tensor, layout: str) -> torch.Tensor:
    """What a derivative begins with; expanded, one number for all elements, as the derivative of a sum is."""
    if layout == EXPANDED and seed.numel() > 0:
        return seed.flatten()[:1].clone().squeeze(0).expand(seed.size())
    other = arranged(seed, layout)
    return seed if other is None else other


def dense(leaf: Any) -> Any:
    """A contiguous copy of a tensor; anything else as it is."""
    is_strided = isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided
    return leaf.detach().clone(memory_format=torch.contiguous_format) if is_strided else leaf


def _other_than(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_floating_point() or tensor.is_complex():
        return torch.full_like(tensor, float("nan"))
    return tensor.bitwise_not()
