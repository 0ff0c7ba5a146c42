"""Models and training steps that torch.compile compiles for the device "mps"."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional


class Training(NamedTuple):
    """A model that learns for some steps.

    Attributes:
        model: makes it.
        inputs: makes its argument.
        optimizer: of the model's parameters.
        compiles_optimizer: its step is compiled, too.
        steps: how many.
    """

    model: Callable[[], nn.Module]
    inputs: Callable[[], torch.Tensor]
    optimizer: Callable[..., torch.optim.Optimizer]
    compiles_optimizer: bool = False
    steps: int = 3


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in self.project(x).chunk(3, -1))
        return self.out(functional.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).flatten(-2))


class Block(nn.Module):
    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.RMSNorm(width)
        self.attention = Attention(width, heads)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x))
        return x + self.feed(self.second(x))


class LanguageModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.block = Block()
        self.head = nn.Linear(32, 50)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.block(self.embed(tokens)))


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 4))


def convolutional() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 6, 3), nn.GroupNorm(2, 6), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(54, 5))


def rows() -> torch.Tensor:
    return torch.randn(10, 12)


TRAININGS = {
    "perceptron_with_sgd": Training(perceptron, rows, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    "perceptron_with_compiled_foreach_adam": Training(
        perceptron, rows, lambda p: torch.optim.Adam(p, lr=0.01, foreach=True, capturable=False), compiles_optimizer=True
    ),
    "perceptron_with_compiled_adamw": Training(
        perceptron, rows, lambda p: torch.optim.AdamW(p, lr=0.01, foreach=False), compiles_optimizer=True
    ),
    "perceptron_with_compiled_foreach_sgd": Training(
        perceptron, rows, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, foreach=True), compiles_optimizer=True
    ),
    "perceptron_with_rmsprop": Training(perceptron, rows, lambda p: torch.optim.RMSprop(p, lr=0.001)),
    "convolutional_network": Training(
        convolutional, lambda: torch.randn(4, 3, 8, 8), lambda p: torch.optim.SGD(p, lr=0.05)
    ),
    "transformer_block": Training(Block, lambda: torch.randn(2, 9, 32), lambda p: torch.optim.AdamW(p, lr=0.001)),
    "language_model": Training(
        LanguageModel, lambda: torch.randint(0, 50, (2, 9)), lambda p: torch.optim.AdamW(p, lr=0.001)
    ),
}
