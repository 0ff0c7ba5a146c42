"""Convolutions of shapes that begin and end tiles in every way, as Metal kernels, against the CPU's."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opinfo_first  # noqa: E402, F401
from torch.nn import functional  # noqa: E402

from metalloid.mps import _plugin  # noqa: E402

TOLERANCE = {torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 8e-2}


@pytest.fixture(scope="module", autouse=True)
def device():
    try:
        _plugin.device()
        if not torch._C._dispatch_has_kernel_for_dispatch_key("aten::mm.out", "MPS"):
            _plugin.own_operators()
    except _plugin.CannotBuild as error:
        pytest.skip(str(error))


def _drawn(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def _agree(image, weight, bias, dtype, convolve=functional.conv2d, **settings):
    """Results and gradients. What the CPU computes in double of the rounded elements is right."""
    given = [one.to(dtype) for one in (image, weight, bias) if one is not None]
    exact = [one.detach().double().requires_grad_() for one in given]
    ours = [one.detach().to("mps").requires_grad_() for one in given]
    expected, result = convolve(*exact, **settings), convolve(*ours, **settings)
    assert result.dtype == dtype and result.shape == expected.shape
    weights = _drawn(*expected.shape).to(dtype)
    gradients = torch.autograd.grad(expected, exact, weights.double())
    own_gradients = torch.autograd.grad(result, ours, weights.to("mps"))
    for got, wanted in zip((result, *own_gradients), (expected, *gradients), strict=True):
        largest = float(wanted.detach().abs().max())
        torch.testing.assert_close(got.cpu().double(), wanted, atol=TOLERANCE[dtype] * largest, rtol=0)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize(
    ("images", "channels", "rows", "height", "width", "padding"),
    [
        (1, 16, 16, 14, 14, 1), (2, 17, 33, 13, 15, 1), (3, 64, 64, 9, 8, 0), (1, 31, 70, 20, 33, 2), (2, 40, 16, 3, 70, 1),
        (1, 130, 65, 21, 3, 1), (5, 20, 24, 7, 7, (2, 0)), (1, 16, 32, 1, 90, 1), (1, 16, 20, 101, 2, (0, 1)), (1, 1, 16, 12, 13, 1),
        (1, 16, 1, 12, 13, 1), (9, 32, 48, 4, 4, 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("has_bias", [False, True])
def test_places_of_3x3(images, channels, rows, height, width, padding, has_bias, dtype):
    _agree(
        _drawn(images, channels, height, width),
        _drawn(rows, channels, 3, 3),
        _drawn(rows) if has_bias else None,
        dtype,
        padding=padding,
    )


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize(
    "turn",
    [
        lambda image: image.contiguous(memory_format=torch.channels_last), lambda image: image.transpose(-1, -2),
        lambda image: image[:, 1:-1, 2:, 1:-2], lambda image: image[:1].expand(3, -1, -1, -1), lambda image: image[..., ::2],
    ],
    ids=["channels_last", "turned", "part", "same", "every_other"],
)  # fmt: skip
def test_images_that_lie_otherwise(turn, dtype):
    image = turn(_drawn(3, 22, 15, 18))
    _agree(image, _drawn(24, image.size(1), 3, 3), _drawn(24), dtype, padding=1)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("size", [(1, 3), (3, 1), (5, 5), (7, 7), (1, 1), (2, 2)], ids=str)
@pytest.mark.parametrize("stride", [1, 2, (1, 3)], ids=str)
@pytest.mark.parametrize("dilation", [1, 2])
def test_places_of_other_sizes(size, stride, dilation, dtype):
    image, weight = _drawn(2, 19, 23, 30), _drawn(37, 19, *size)
    _agree(image, weight, _drawn(37), dtype, padding=(size[0] // 2, size[1]), stride=stride, dilation=dilation)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last], ids=str)
def test_groups_of_channels(memory_format, dtype):
    image = _drawn(2, 36, 21, 34).contiguous(memory_format=memory_format)
    _agree(image, _drawn(51, 12, 3, 4), _drawn(51), dtype, groups=3, padding=(1, 2), stride=(1, 2))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("stride", [1, (2, 1, 2)], ids=str)
def test_three_dimensions(stride, dtype):
    image, weight = _drawn(2, 10, 7, 8, 37), _drawn(17, 10, 2, 3, 3)
    _agree(image, weight, _drawn(17), dtype, functional.conv3d, padding=(1, 0, 2), stride=stride)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_one_dimension(dtype):
    _agree(_drawn(3, 40, 333), _drawn(70, 40, 5), _drawn(70), dtype, functional.conv1d, padding=3)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_transposed(dtype):
    _agree(_drawn(2, 24, 17, 40), _drawn(24, 33, 3, 3), _drawn(33), dtype, functional.conv_transpose2d, padding=1)


def test_the_error_is_that_of_sums_one_by_one():
    """Of a long sum no more than three times that of PyTorch's CPU."""
    image, weight = _drawn(2, 128, 28, 28), _drawn(128, 128, 3, 3)
    exact = functional.conv2d(image.double(), weight.double(), padding=1)
    ours = functional.conv2d(image.to("mps"), weight.to("mps"), padding=1).cpu()
    theirs = functional.conv2d(image, weight, padding=1)
    assert (ours - exact).abs().max() <= 3 * (theirs - exact).abs().max()
