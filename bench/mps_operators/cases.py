"""Operators and models that are timed on PyTorch's CPU and on the device mps: functions of tensors, by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from mps_operators import models

Tensors = Sequence[torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Case:
    """What is timed.

    Attributes:
        make: a device's function without arguments, from the device's name. What it returns is compared.
        tolerance: of the largest difference, as a part of the largest number.
    """

    make: Callable[[str], Callable[[], torch.Tensor]]
    tolerance: float = 1e-4


def _normal(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator).to(dtype)


def _numbers(below: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, below, shape, generator=torch.Generator().manual_seed(below))


def _of(function: Callable[..., torch.Tensor], *tensors: torch.Tensor, tolerance: float = 1e-4) -> Case:
    def make(device: str) -> Callable[[], torch.Tensor]:
        own = [tensor.to(device, copy=True) for tensor in tensors]  # as many tensors on both
        return lambda: function(*own)

    return Case(make, tolerance)


def _model(make_model: Callable[[], tuple[torch.nn.Module, Tensors]], compiled: bool = False) -> Case:
    def make(device: str) -> Callable[[], torch.Tensor]:
        model, inputs = make_model()
        model.to(device).eval()
        own = [each.to(device) for each in inputs]
        called = torch.compile(model) if compiled else model

        def run() -> torch.Tensor:
            with torch.no_grad():
                return called(*own)

        return run

    return Case(make, 1e-3)


def _training(make_model: Callable[[], tuple[torch.nn.Module, Tensors]], compiled: bool = False) -> Case:
    """A step: forward, backward, and an optimiser that leaves the weights what they are."""

    def make(device: str) -> Callable[[], torch.Tensor]:
        model, inputs = make_model()
        model.to(device).train()
        own = [each.to(device) for each in inputs]
        called = torch.compile(model) if compiled else model
        optimiser = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=0.0)

        def run() -> torch.Tensor:
            optimiser.zero_grad()
            loss = called(*own).square().mean()
            loss.backward()
            optimiser.step()
            return loss.detach()

        return run

    return Case(make, 1e-3)


def _convolution(image: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.conv2d(image, weight, padding=weight.shape[-1] // 2)


_rows = _normal(4096, 1024)
_square = _normal(1024, 1024)
_heads = [_normal(4, 8, 512, 64) + index for index in range(3)]
_image = _normal(8, 64, 56, 56)

OPERATORS: dict[str, Case] = {
    "mm_256": _of(torch.mm, _normal(256, 256), _normal(256, 256)),
    "mm_1024": _of(torch.mm, _square, _square),
    "mm_1024_transposed": _of(lambda a, b: torch.mm(a, b.t()), _square, _square),
    "mm_1024_bfloat16": _of(torch.mm, _square.bfloat16(), _square.bfloat16(), tolerance=1e-2),
    "mm_333": _of(torch.mm, _normal(333, 177), _normal(177, 555)),
    "mv_4096": _of(torch.mv, _rows, _normal(1024)),
    "bmm_32": _of(torch.bmm, _normal(32, 128, 64), _normal(32, 64, 128)),
    "addmm_512": _of(torch.addmm, _normal(512, 512), _normal(512, 256), _normal(256, 512)),
    "linear_4096": _of(F.linear, _normal(4096, 2048), _normal(2048, 2048), _normal(2048)),
    "linear_8": _of(F.linear, _normal(8, 512), _normal(512, 512), _normal(512)),
    "linear_1": _of(F.linear, _normal(1, 2048), _normal(2048, 2048)),
    "attention": _of(F.scaled_dot_product_attention, *_heads),
    "attention_causal": _of(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), *_heads),
    "conv2d_3x3": _of(_convolution, _image, _normal(64, 64, 3, 3)),
    "conv2d_1x1": _of(_convolution, _image, _normal(128, 64, 1, 1)),
    "conv2d_depthwise": _of(
        lambda image, weight: F.conv2d(image, weight, padding=1, groups=64), _image, _normal(64, 1, 3, 3)
    ),
    "conv1d": _of(lambda x, w: F.conv1d(x, w, padding=2), _normal(8, 64, 2048), _normal(64, 64, 5)),
    "max_pool2d": _of(lambda image: F.max_pool2d(image, 3, 2), _image),
    "avg_pool2d": _of(lambda image: F.avg_pool2d(image, 2), _image),
    "interpolate": _of(lambda image: F.interpolate(image, scale_factor=2, mode="bilinear"), _image),
    "sum_16M": _of(torch.sum, _normal(1 << 24), tolerance=1e-2),
    "sum_rows": _of(lambda x: x.sum(1), _rows),
    "sum_columns": _of(lambda x: x.sum(0), _rows),
    "mean_rows": _of(lambda x: x.mean(-1), _rows),
    "amax_rows": _of(lambda x: x.amax(-1), _rows),
    "argmax_rows": _of(lambda x: x.argmax(-1), _rows),
    "var_rows": _of(lambda x: x.var(-1), _rows),
    "cumsum_rows": _of(lambda x: x.cumsum(-1), _rows),
    "softmax": _of(lambda x: torch.softmax(x, -1), _rows),
    "log_softmax": _of(lambda x: torch.log_softmax(x, -1), _rows),
    "layer_norm": _of(lambda x: F.layer_norm(x, (1024,)), _rows),
    "rms_norm": _of(lambda x: F.rms_norm(x, (1024,)), _rows),
    "group_norm": _of(lambda image: F.group_norm(image, 8), _image),
    "batch_norm": _of(
        lambda image, mean, variance: F.batch_norm(image, mean, variance), _image, _normal(64), _normal(64).square()
    ),
    "cross_entropy": _of(F.cross_entropy, _rows, _numbers(1024, 4096)),
    "gelu": _of(F.gelu, _rows),
    "silu": _of(F.silu, _rows),
    "relu": _of(torch.relu, _rows),
    "exp": _of(torch.exp, _rows),
    "tanh": _of(torch.tanh, _rows),
    "add": _of(torch.add, _rows, _rows),
    "mul_broadcast": _of(torch.mul, _rows, _normal(1024)),
    "where": _of(lambda x: torch.where(x > 0, x, -x), _rows),
    "to_bfloat16": _of(lambda x: x.to(torch.bfloat16), _rows, tolerance=1e-2),
    "transpose": _of(lambda x: x.t().contiguous(), _rows),
    "cat": _of(lambda x: torch.cat([x, x], 1), _rows),
    "embedding": _of(F.embedding, _numbers(50000, 8, 512), _normal(50000, 512)),
    "gather": _of(lambda x, at: x.gather(1, at), _rows, _numbers(1024, 4096, 256)),
    "index_add": _of(lambda x, at: torch.zeros_like(x).index_add_(0, at, x), _rows, _numbers(4096, 4096)),
    "topk": _of(lambda x: x.topk(16).values, _rows),
    "sort": _of(lambda x: x.sort(-1).values, _rows),
    "small_add": _of(torch.add, _normal(16), _normal(16)),
    "small_softmax": _of(lambda x: torch.softmax(x, -1), _normal(4, 16)),
}


def _models(compiled: bool) -> dict[str, Case]:
    return {
        "decoder_prefill": _model(lambda: models.decoder(256), compiled),
        "decoder_decode": _model(lambda: models.decoder(1), compiled),
        "resnet": _model(models.residual_network, compiled),
        "unet": _model(models.unet, compiled),
        "encoder_training": _training(models.encoder, compiled),
        "lstm": _model(models.recurrent, compiled),
        "diffusion_step": _model(models.diffusion_step, compiled),
    }


KINDS: dict[str, dict[str, Case]] = {
    "operators": OPERATORS,
    "models": _models(compiled=False),
    "compiled models": {f"{name}_compiled": case for name, case in _models(compiled=True).items()},
}
CASES = {name: case for cases in KINDS.values() for name, case in cases.items()}
