"""Functions and models that torch.compile compiles for the device "mps": what they are given and what they compute.

A case is called with a device: it makes its inputs on the CPU, with the seed that its name gives, and moves them there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn import functional


class Case(NamedTuple):
    """One function.

    Attributes:
        function: what is compiled.
        inputs: makes its arguments on the CPU.
        tolerance: (absolute, relative) against the CPU, which computes in another order; None: assert_close's own.
        trains: gradients of the floating-point inputs are compared, too.
        dynamic: compiled once for several sizes; inputs() gives several lists of arguments then.
        kernels: the least number of generated kernels that are launched.
        by_eager_random: random numbers are the eager operator's (fallback_random), so that they can be compared.
    """

    function: Callable[..., Any]
    inputs: Callable[[], Any]
    tolerance: tuple[float, float] | None = None
    trains: bool = False
    dynamic: bool = False
    kernels: int = 1
    by_eager_random: bool = False


CASES: dict[str, Case] = {}


def case(*inputs: Any, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the function below. An input that is a tuple of sizes is a tensor of normal numbers, a function is called."""

    def make() -> list[Any]:
        return [torch.randn(one) if isinstance(one, tuple) else one() if callable(one) else one for one in inputs]

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__] = Case(function, make, **options)
        return function

    return add


def of(dtype: torch.dtype, *sizes: int) -> Callable[[], torch.Tensor]:
    if dtype is torch.bool:
        return lambda: torch.rand(sizes) > 0.5
    if dtype.is_floating_point or dtype.is_complex:
        return lambda: torch.randn(sizes, dtype=torch.float32 if dtype.is_floating_point else dtype).to(dtype)
    return lambda: torch.randint(0 if dtype is torch.uint8 else -50, 50, sizes, dtype=dtype)


def below(limit: int, *sizes: int) -> Callable[[], torch.Tensor]:
    return lambda: torch.randint(0, limit, sizes)


HALF = (2e-2, 1e-2)
SUMS = (1e-5, 1e-4)


# Elementwise


@case((7, 33), (7, 33))
def pointwise_chain(x, y):
    return torch.sigmoid(x) * torch.tanh(y) + torch.exp(-x.abs()) / (1 + y * y)


@case((4, 1, 9), (5, 1), (9,))
def broadcasting(x, y, z):
    return torch.maximum(x, y) * 2 + z.sin()


@case((6, 50))
def many_functions(x):
    return x.erf() + x.cos() + x.log1p().nan_to_num() + torch.rsqrt(x * x + 1) + torch.atan2(x, x + 2) + x.sign() + x.floor()


@case((6, 50))
def special_functions(x):
    positive = x.abs() + 0.5
    return torch.lgamma(positive) + torch.digamma(positive) + torch.special.i0(x) + torch.special.sinc(x)


@case((64,))
def activations(x):
    return (
        functional.gelu(x), functional.silu(x), functional.elu(x), functional.hardswish(x), functional.mish(x),
        functional.softplus(x),
    )  # fmt: skip


@case((30, 20), of(torch.bool, 30, 20))
def where_and_clamp(x, mask):
    return torch.where(mask, x.clamp(-0.5, 0.5), x.masked_fill(x > 0, -1.0))


@case(of(torch.int32, 40), of(torch.int64, 40))
def integers(x, y):
    return (x * 3 + 1) // 4, x % 7, (x & 15) | 3, (x << 2) ^ 5, y.abs().to(torch.int16), torch.minimum(y, x.long())


@case(of(torch.uint8, 40), of(torch.int8, 40))
def bytes_and_bools(x, y):
    return x + 200, y * 2, (x > 20) & (y < 0), ~(y > 3), x.bool() ^ y.bool()


@case(of(torch.float16, 8, 32), of(torch.float16, 32), tolerance=HALF)
def halfs(x, y):
    return (x * y).relu() + torch.exp(x) / 3, (x.float() * 2).half()


@case(of(torch.bfloat16, 8, 32), of(torch.bfloat16, 32), tolerance=(5e-2, 2e-2))
def bfloats(x, y):
    return (x + y).sigmoid() * x, x.sum(-1)


@case((16,), (16,), (16,))
def mixed_types(x, y, z):
    return x.half() * y.to(torch.bfloat16) + z, (x > 0) * y, x.int() + z


@case((12, 12))
def in_place(x):
    result = x.clone()
    result.add_(1).mul_(2)
    result[2:5] = 0
    result[:, 3] += 7
    return result


@case((12, 12))
def numbers_of_the_host(x):
    return x * 3 + 2.5 - torch.tensor(4.0) + float(x.shape[0])


# Reductions


@case((5, 77, 9))
def sums(x):
    return x.sum(), x.sum(0), x.sum((0, 2)), x.mean(1), x.mean(-1, keepdim=True)


@case((5, 77, 9))
def extremes(x):
    return x.amax(1), x.amin((0, 1)), x.max(), x.min(2).values, x.argmax(1), x.argmin(), x.argmax(-1)


@case((4, 3000), tolerance=SUMS)
def long_rows(x):
    return x.sum(1), (x * x).mean(1), x.amax(1), x.argmax(1)


@case(lambda: torch.randint(0, 3, (4, 3000)).float())
def first_of_equal_elements(x):
    return x.argmax(1), x.argmin(1)


@case((4, 3000), tolerance=SUMS)
def variances_of_long_rows(x):
    return x.var(1), torch.var_mean(x, 1, correction=0), x.std()


@case((6, 200), tolerance=SUMS)
def variances(x):
    return x.var(1), x.std(0), torch.var_mean(x, (0, 1), correction=0)


@case((6, 200), of(torch.int32, 6, 200))
def any_all_product(x, y):
    return (x > 2).any(1), (x > -9).all(), (1 + x / 100).prod(1), y.sum(1), y.amax(), (y % 3 + 1)[:, :5].prod(1)


@case((6, 64), tolerance=SUMS)
def norms(x):
    return x.norm(), torch.linalg.vector_norm(x, 1, dim=1), functional.normalize(x, dim=1), torch.logsumexp(x, 1)


@case((8, 300))
def softmax(x):
    return functional.softmax(x, -1), functional.log_softmax(x, 0)


@case((8, 1500), tolerance=SUMS)
def softmax_of_long_rows(x):
    return functional.softmax(x, -1)


@case((2, 4, 16, 16), of(torch.bool, 16, 16))
def masked_softmax(scores, mask):
    mask = mask | torch.eye(16, dtype=torch.bool, device=mask.device)
    return functional.softmax(scores.masked_fill(~mask, float("-inf")), -1)


@case((10, 48), (48,), (48,), tolerance=SUMS, trains=True)
def layer_norm(x, weight, bias):
    return functional.layer_norm(x, (48,), weight, bias)


@case((10, 48), (48,), tolerance=SUMS, trains=True)
def rms_norm(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


@case((4, 8, 6, 6), (8,), (8,), tolerance=SUMS, trains=True)
def group_norm(x, weight, bias):
    return functional.silu(functional.group_norm(x, 4, weight, bias))


@case((4, 8, 6, 6), (8,), (8,), tolerance=SUMS)
def batch_norm(x, mean, deviation):
    return functional.batch_norm(x, mean, deviation.abs(), training=False).relu()


@case((4, 8, 6, 6), (8,), (8,), tolerance=SUMS)
def batch_norm_in_training(x, mean, deviation):
    return functional.batch_norm(x, mean, deviation, training=True, momentum=0.1), mean, deviation


@case((4, 300), tolerance=SUMS)
def cumulative_sums(x):
    return (x * 2).cumsum(1) + 1, x.cumsum(0)


@case((4, 30), tolerance=SUMS)
def cumulative_products(x):
    return x.sin().cumprod(1), x.cummax(1).values, x.logcumsumexp(1)


@case((5, 40))
def sorted_and_largest(x):
    return x.sort(1).values * 2, x.topk(3, 1).values + 1


# Indices and shapes


@case((20, 8), below(20, 5, 6))
def embedding(weight, indices):
    return functional.embedding(indices, weight) * 2


@case((20, 8), below(20, 7), below(8, 20, 3))
def gather_and_select(x, rows, columns):
    return x.index_select(0, rows) + 1, x.gather(1, columns) * 2, x[rows, :2], x[rows[:3], rows[:3] % 8]


@case((20, 8), below(20, 7), (7, 8))
def scatter_and_add(x, rows, values):
    put = torch.zeros_like(x).index_put((rows,), values, accumulate=True)
    return x.index_add(0, rows, values), x.scatter_add(0, rows[:, None].expand(7, 8), values), put


@case((20, 8), below(8, 20, 1), (20, 1))
def scatter(x, columns, values):
    return x.scatter(1, columns, values) * 2, x.scatter(1, columns, 3.0)


@case((4, 5), (4, 7), (4, 2))
def concatenation(x, y, z):
    return torch.cat([x * 2, y.relu(), z - 1], 1), torch.stack([x, x + 1], -1), torch.cat([x[:2], x[2:] * 3])


@case((3, 6, 5))
def padding(x):
    reflected, replicated = functional.pad(x, (2, 1), mode="reflect"), functional.pad(x, (1, 1), mode="replicate")
    return functional.pad(x, (1, 2, 0, 3), value=1.5), reflected, replicated


@case((3, 6, 5))
def transposing(x):
    return x.transpose(0, 2) * 2, x.permute(2, 0, 1).contiguous().view(5, 18) + 1, x.flip(1), x.roll(2, 1), x[:, ::2, 1:].sin()


@case((6, 6))
def triangles(x):
    made = torch.arange(6, device=x.device) * x + torch.eye(6, device=x.device)
    return x.tril() + 1, x.triu(1) * 2, made, torch.full_like(x, 3).diagonal() + 1


@case((2, 3, 8, 8))
def pooling(x):
    return functional.max_pool2d(x, 2), functional.avg_pool2d(x, 3, 1, 1), functional.adaptive_avg_pool2d(x, 1)


@case((2, 3, 5, 6), tolerance=SUMS)
def upsampling(x):
    return functional.interpolate(x, scale_factor=2.0, mode="nearest"), functional.interpolate(x, size=(7, 9), mode="bilinear")


# Products


@case((9, 16), (16, 12), (12,), tolerance=SUMS)
def product_with_epilogue(x, y, bias):
    return functional.relu(x @ y + bias) * 0.5


@case((3, 9, 16), (3, 16, 4), tolerance=SUMS)
def batched_products(x, y):
    return torch.bmm(x.sigmoid(), y) + 1, torch.einsum("bij,bjk->bik", x, y).tanh()


@case((2, 3, 10, 10), (6, 3, 3, 3), (6,), tolerance=(1e-4, 1e-4))
def convolution(x, weight, bias):
    return functional.relu(functional.conv2d(x, weight, bias, padding=1))


@case((2, 4, 12, 16), (2, 4, 12, 16), (2, 4, 12, 16), tolerance=SUMS)
def attention(query, key, value):
    return functional.scaled_dot_product_attention(query * 0.5, key, value).relu()


@case((2, 4, 12, 16), (2, 2, 12, 16), (2, 2, 12, 16), tolerance=SUMS)
def grouped_causal_attention(query, key, value):
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True) * 2


@case((2, 4, 12, 16), (2, 4, 12, 16), (2, 4, 12, 16), (12, 12), tolerance=SUMS)
def attention_by_hand(query, key, value, bias):
    return functional.softmax(query @ key.transpose(-1, -2) / 4 + bias, -1) @ value + query


@case((2, 10, 4, 16), tolerance=SUMS)
def rotary_embedding(x):
    frequencies = 10000.0 ** (-torch.arange(0, 16, 2, device=x.device) / 16)
    angles = torch.arange(10, device=x.device)[:, None] * frequencies
    cos, sin = angles.cos()[None, :, None], angles.sin()[None, :, None]
    left, right = x[..., ::2], x[..., 1::2]
    return torch.stack([left * cos - right * sin, left * sin + right * cos], -1).flatten(-2)


@case(of(torch.complex64, 6, 5), of(torch.complex64, 5))
def complex_numbers(x, y):
    return x * y + 1, x.abs() + 1, torch.view_as_real(x) * 2


# Random numbers


@case((64, 64), by_eager_random=True, kernels=1)
def dropout_as_eager(x):
    return functional.dropout(x * 2, 0.3)


@case((200, 200))
def random_numbers(x):
    uniform, normal, whole = torch.rand_like(x), torch.randn_like(x), torch.randint(0, 9, x.shape, device=x.device)
    kept = functional.dropout(torch.ones_like(x), 0.25) > 0
    return [
        ((uniform >= 0) & (uniform < 1)).all(), (uniform.mean() - 0.5).abs() < 0.02, normal.mean().abs() < 0.02,
        (normal.std() - 1).abs() < 0.02, (whole >= 0).all() & (whole < 9).all(), (kept.float().mean() - 0.75).abs() < 0.02,
    ]  # fmt: skip


# One compilation for many sizes


def of_sizes(*sizes: tuple[tuple[int, ...], ...]) -> Callable[[], list[list[torch.Tensor]]]:
    return lambda: [[torch.randn(one) for one in call] for call in sizes]


def dynamic(inputs: Callable[[], Any], **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__] = Case(function, inputs, dynamic=True, **options)
        return function

    return add


@dynamic(of_sizes(((4, 6), (6,)), ((9, 11), (11,)), ((3, 40), (40,))))
def dynamic_pointwise(x, y):
    return (x + y).sigmoid() * x.shape[0]


@dynamic(of_sizes(((4, 6),), ((9, 110),), ((3, 700),)), tolerance=SUMS)
def dynamic_reductions(x):
    return x.sum(1), x.mean(0), functional.softmax(x, -1), x.var(1)


@dynamic(of_sizes(((2, 6, 8), (8, 5)), ((3, 10, 8), (8, 5))), tolerance=SUMS)
def dynamic_product(x, y):
    return torch.cat([(x @ y).relu(), x[..., :3]], -1).transpose(1, 2)


# Training


@case((30, 5), below(5, 30), tolerance=SUMS, trains=True)
def cross_entropy(x, target):
    return functional.cross_entropy(x, target)


@case((8, 16), (8, 16), tolerance=SUMS, trains=True)
def losses(x, y):
    likely = functional.binary_cross_entropy_with_logits(x, y.sigmoid())
    return functional.mse_loss(x, y) + functional.huber_loss(x, y) + functional.l1_loss(x, y) + likely


@case((8, 16), (16, 16), (16,), tolerance=SUMS, trains=True)
def gradients_of_a_layer(x, weight, bias):
    return functional.gelu(functional.linear(x, weight, bias)).square().mean()


@case((20, 8), below(20, 5, 6), tolerance=SUMS, trains=True)
def gradients_of_an_embedding(weight, indices):
    return functional.embedding(indices, weight).tanh().sum((1, 2))


@case((2, 2, 10, 8), (2, 2, 10, 8), (2, 2, 10, 8), tolerance=(1e-4, 1e-3), trains=True)
def gradients_of_attention(query, key, value):
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True).sin()


@case((2, 3, 6, 6), (4, 3, 3, 3), tolerance=(1e-4, 1e-3), trains=True)
def gradients_of_a_convolution(x, weight):
    return functional.max_pool2d(functional.conv2d(x, weight, padding=1).relu(), 2).sum((2, 3))
