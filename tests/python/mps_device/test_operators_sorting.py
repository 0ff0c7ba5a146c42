"""sort and topk of rows of every length that another way is taken for, with numbers that are equal, infinite or none."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


DTYPES = (
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)
RESULTS = (torch.float32, torch.int64)


@pytest.fixture(scope="module", autouse=True)
def own_kernels(device):
    device.reset_fallbacks()
    yield
    assert not {"aten::sort.stable", "aten::topk", "aten::topk.values"} & set(device.fallbacks())


def numbers(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """Many of which are equal; of floating-point numbers also infinities, zeros of both signs, and not-a-number."""
    generator = torch.Generator().manual_seed(sum(shape))
    if not dtype.is_floating_point:
        if dtype == torch.bool:
            return torch.randint(0, 2, shape, generator=generator).bool()
        limits = torch.iinfo(dtype)
        some = torch.randint(max(limits.min, -9), 9, shape, generator=generator).to(dtype)
        extreme = torch.where(torch.rand(shape, generator=generator) < 0.5, limits.min, limits.max).to(dtype)
        return torch.where(torch.rand(shape, generator=generator) < 0.2, extreme, some)
    some = torch.randn(shape, generator=generator).mul(8).round().div(4).to(dtype)
    special = torch.tensor([torch.inf, -torch.inf, torch.nan, -torch.nan, 0.0, -0.0], dtype=dtype)
    which = torch.randint(0, len(special), shape, generator=generator)
    return torch.where(torch.rand(shape, generator=generator) < 0.1, special[which], some)


def assert_equal(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one.cpu(), other, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_sorted_rows_are_stable(dtype, descending):
    for size in (1, 16, 17, 32, 33, 100, 1000, 1024, 1025, 4096, 4097, 9001):
        rows = numbers(dtype, 3, size)
        expected = rows.sort(dim=1, descending=descending, stable=True)
        values, indices = rows.to("mps").sort(dim=1, descending=descending, stable=True)
        assert torch.equal(indices.cpu(), expected.indices), size
        assert_equal(values, rows.gather(1, expected.indices))


def test_sorted_along_every_dimension_and_into_tensors_that_are_there():
    tensor = numbers(torch.float32, 5, 40, 7)
    on_mps = tensor.to("mps")
    for dim in range(3):
        expected = tensor.sort(dim=dim, stable=True)
        indices = on_mps.sort(dim=dim, stable=True).indices
        assert torch.equal(indices.cpu(), expected.indices)
        apart = tuple(torch.empty(7, 40, 5, device="mps", dtype=dtype).permute(2, 1, 0) for dtype in RESULTS)
        torch.sort(on_mps, dim=dim, stable=True, out=apart)
        assert torch.equal(apart[1].cpu(), expected.indices)
        assert_equal(apart[0], expected.values)


@pytest.mark.parametrize("dtype", DTYPES[:-1], ids=str)
@pytest.mark.parametrize("largest", [False, True])
def test_top_of_rows_is_the_beginning_of_sorted_ones(dtype, largest):
    for size, count in ((1, 1), (31, 31), (32, 1), (33, 5), (64, 33), (1000, 16), (1024, 257), (3000, 256), (5000, 50)):
        rows = numbers(dtype, 3, size)
        expected = rows.sort(dim=1, descending=largest, stable=True).indices[:, :count]
        values, indices = rows.to("mps").topk(count, 1, largest)
        assert torch.equal(indices.cpu(), expected), (size, count)
        assert_equal(values, rows.gather(1, expected))


def test_top_along_every_dimension_and_into_tensors_that_are_there():
    tensor = numbers(torch.float32, 5, 40, 7)
    on_mps = tensor.to("mps")
    for dim in range(3):
        expected = tensor.sort(dim=dim, descending=True, stable=True).indices.narrow(dim, 0, 4)
        assert torch.equal(on_mps.topk(4, dim).indices.cpu(), expected)
        halved = tensor[..., ::2].sort(dim=dim, descending=True, stable=True).indices
        assert torch.equal(on_mps[..., ::2].topk(2, dim).indices.cpu(), halved.narrow(dim, 0, 2))
        shape = expected.shape[::-1]
        apart = tuple(torch.empty(shape, device="mps", dtype=dtype).permute(2, 1, 0) for dtype in RESULTS)
        torch.topk(on_mps, 4, dim, out=apart)
        assert torch.equal(apart[1].cpu(), expected)
    assert on_mps.topk(0).values.shape == (5, 40, 0) and torch.empty(0, 9, device="mps").topk(3).values.shape == (0, 3)
    value, index = torch.tensor(2.5, device="mps").topk(1)
    assert value.item() == 2.5 and index.item() == 0
