"""Products with weights of 4 and 8 bits on "mps", against those with the same weights as float32."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opinfo_first  # noqa: E402, F401

TOLERANCE = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 8e-2}
OPERATORS = {"aten::_convert_weight_to_int4pack", "aten::_weight_int4pack_mm", "aten::_weight_int8pack_mm"}


def four_bits(rows, inner, group):
    """Weights of 0 to 15, their scales and zeros by group, and the numbers that they mean."""
    bits = torch.randint(0, 16, (rows, inner))
    scales_and_zeros = torch.randn(inner // group, rows, 2)
    scales, zeros = scales_and_zeros.transpose(0, 1).repeat_interleave(group, 1).unbind(-1)
    return bits, scales_and_zeros, (bits - 8) * scales + zeros


def packed(bits, tiles=2):
    pairs = (bits[:, ::2] << 4 | bits[:, 1::2]).to(torch.uint8)
    return torch._convert_weight_to_int4pack(pairs.to("mps"), tiles)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("group, tiles", [(32, 2), (64, 8), (128, 4)])
def test_four_bits(device, dtype, group, tiles):
    torch.manual_seed(0)
    bits, scales_and_zeros, weights = four_bits(24, 256, group)
    values = torch.randn(5, 256).div(16).to(dtype)
    device.reset_fallbacks()
    weight = packed(bits, tiles)
    assert weight.shape == (3, 256 // (16 * tiles), 32, tiles // 2) and weight.dtype == torch.int32
    result = torch._weight_int4pack_mm(values.to("mps"), weight, group, scales_and_zeros.to("mps", dtype))
    assert OPERATORS.isdisjoint(device.fallbacks())
    assert result.dtype == dtype
    expected = values.float() @ weights.T
    torch.testing.assert_close(result.cpu().float(), expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_eight_bits(device, dtype):
    torch.manual_seed(0)
    values, scales = torch.randn(3, 40).to(dtype), torch.rand(7).to(dtype)
    weights = torch.randint(-128, 128, (7, 40), dtype=torch.int8)
    device.reset_fallbacks()
    on_mps = [tensor.to("mps") for tensor in (values.T.contiguous().T, weights, scales)]
    result = torch._weight_int8pack_mm(*on_mps)
    assert OPERATORS.isdisjoint(device.fallbacks())
    expected = (values.float() @ weights.float().T * scales.float()).to(dtype)
    torch.testing.assert_close(result.cpu(), expected, atol=TOLERANCE[dtype], rtol=1e-2)


def test_no_rows(device):
    bits, scales_and_zeros, _ = four_bits(8, 64, 32)
    values = torch.empty(0, 64, device="mps")
    assert torch._weight_int4pack_mm(values, packed(bits), 32, scales_and_zeros.to("mps")).shape == (0, 8)


def multiply(rows=8, inner=64, group=32, values=(2, 64), dtype=torch.float32, scales=None):
    _, scales_and_zeros, _ = four_bits(rows, inner, 32)
    weight = packed(torch.zeros(rows, inner, dtype=torch.int64))
    scales = scales_and_zeros if scales is None else scales
    return torch._weight_int4pack_mm(torch.ones(values, device="mps", dtype=dtype), weight, group, scales.to("mps"))


WRONG = {
    "type of values": (lambda: multiply(dtype=torch.int32), "expect A to be"),
    "dimensions of values": (lambda: multiply(values=(64,)), "2D tensor"),
    "length of rows": (lambda: multiply(values=(2, 96)), "96 weights in a row.*they are 64"),
    "group": (lambda: multiply(group=16), "qGroupSize"),
    "scales": (lambda: multiply(scales=torch.ones(2, 7, 2)), r"\[2, 8, 2\]"),
    "rows to pack": (lambda: packed(torch.zeros(7, 64, dtype=torch.int64)), "N to be dividable by 8"),
    "tiles": (lambda: packed(torch.zeros(8, 64, dtype=torch.int64), 3), "2, 4, or 8"),
    "columns to pack": (lambda: packed(torch.zeros(8, 48, dtype=torch.int64)), "K to be dividable by 32"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors(device, name):
    attempt, text = WRONG[name]
    with pytest.raises(RuntimeError, match=text):
        attempt()
