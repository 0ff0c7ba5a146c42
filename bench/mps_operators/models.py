"""Small models of the usual shapes, with random weights. Each function gives a model and its inputs."""

from __future__ import annotations

import itertools

import torch
import torch.nn.functional as F
from torch import nn


class _DecoderBlock(nn.Module):
    """As Llama's: RMS norms, rotary positions, grouped keys, a gated product."""

    def __init__(self, width: int, heads: int, key_heads: int) -> None:
        super().__init__()
        self.size = width // heads
        self.first_norm, self.second_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, key_heads * self.size, bias=False)
        self.value = nn.Linear(width, key_heads * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 3 * width, bias=False)
        self.up = nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (-1, self.size)).transpose(1, 2)

    def forward(self, x: torch.Tensor, past: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        y = self.first_norm(x)
        query, key, value = self._heads(self.query(y)), self._heads(self.key(y)), self._heads(self.value(y))

        def rotated(z: torch.Tensor) -> torch.Tensor:
            low, high = z.chunk(2, -1)
            cosine, sine = turn.cos(), turn.sin()
            return torch.cat([low * cosine - high * sine, low * sine + high * cosine], -1)

        key = torch.cat([past, rotated(key)], 2)
        value = torch.cat([past, value], 2)
        attended = F.scaled_dot_product_attention(
            rotated(query), key, value, is_causal=x.shape[1] > 1 and past.shape[2] == 0, enable_gqa=True
        )
        x = x + self.out(attended.transpose(1, 2).flatten(-2))
        y = self.second_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class _Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(8192, 512)
        self.blocks = nn.ModuleList([_DecoderBlock(512, 8, 2) for _ in range(4)])
        self.norm = nn.RMSNorm(512)

    def forward(self, tokens: torch.Tensor, past: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, past, turn)
        return F.linear(self.norm(x), self.embedding.weight)


def decoder(tokens: int) -> tuple[nn.Module, list[torch.Tensor]]:
    """Many tokens at once, or one behind 256 others."""
    torch.manual_seed(0)
    before = 256 if tokens == 1 else 0
    frequencies = 1e4 ** (-torch.arange(32) / 32)
    turn = torch.arange(before, before + tokens)[:, None] * frequencies
    return _Decoder(), [torch.randint(0, 8192, (1, tokens)), torch.randn(1, 2, before, 64), turn]


class _Residual(nn.Module):
    def __init__(self, inner: int, outer: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU(),
            nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer),
        )  # fmt: skip
        self.way = nn.Identity() if inner == outer else nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(x) + self.way(x))


def residual_network() -> tuple[nn.Module, list[torch.Tensor]]:
    """As ResNet-18, on two images of 112 x 112."""
    torch.manual_seed(0)
    widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
    blocks = [_Residual(a, b, 1 if a == b else 2) for a, b in itertools.pairwise(widths)]
    model = nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1), *blocks,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100),
    )  # fmt: skip
    return model, [torch.randn(2, 3, 112, 112)]


def _double(inner: int, outer: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inner, outer, 3, 1, 1), nn.GroupNorm(8, outer), nn.SiLU(),
        nn.Conv2d(outer, outer, 3, 1, 1), nn.GroupNorm(8, outer), nn.SiLU(),
    )  # fmt: skip


class _UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.middle = _double(3, 32), _double(32, 64), _double(64, 128)
        self.up, self.last = _double(192, 64), _double(96, 32)
        self.out = nn.Conv2d(32, 3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = self.first(x)
        second = self.second(F.max_pool2d(first, 2))
        middle = self.middle(F.max_pool2d(second, 2))
        x = self.up(torch.cat([F.interpolate(middle, scale_factor=2), second], 1))
        return self.out(self.last(torch.cat([F.interpolate(x, scale_factor=2), first], 1)))


def unet() -> tuple[nn.Module, list[torch.Tensor]]:
    """Of three levels, on two images of 64 x 64."""
    torch.manual_seed(0)
    return _UNet(), [torch.randn(2, 3, 64, 64)]


def encoder() -> tuple[nn.Module, list[torch.Tensor]]:
    """A layer of a transformer, on four texts of 128 tokens."""
    torch.manual_seed(0)
    return nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True), [torch.randn(4, 128, 512)]


class _Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(128, 256, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)[0]


def recurrent() -> tuple[nn.Module, list[torch.Tensor]]:
    """Two layers of an LSTM, on eight sequences of 64."""
    torch.manual_seed(0)
    return _Recurrent(), [torch.randn(8, 64, 128)]


class _DiffusionStep(nn.Module):
    """A U-Net's guess of the noise, with and without a condition, and a step against it."""

    def __init__(self) -> None:
        super().__init__()
        self.noise = _UNet()

    def forward(self, x: torch.Tensor, condition: torch.Tensor) -> torch.Tensor:
        with_it, without = self.noise(torch.cat([x + condition, x])).chunk(2)
        noise = without + 7.5 * (with_it - without)
        start = ((x - 0.6 * noise) / 0.8).clamp(-1, 1)
        return 0.9 * start + 0.1 * noise


def diffusion_step() -> tuple[nn.Module, list[torch.Tensor]]:
    torch.manual_seed(0)
    return _DiffusionStep(), [torch.randn(1, 3, 64, 64), torch.randn(1, 3, 64, 64)]
