"""Elementwise operators on the device "mps" are Metal kernels, and compute what the CPU computes.

Samples are OpInfo's; every family of kernels has operators here, with the flavours that samples ask for: dense, strided,
broadcast, numbers, mixed types.
"""

from __future__ import annotations

import itertools

import opinfo_first  # noqa: F401
import pytest
import torch
from torch.utils._pytree import tree_map

from metalloid.aten import opinfo
from metalloid.mps import _plugin

NAMES = """add sub mul div floor_divide remainder pow addcmul lerp eq lt logical_and maximum clamp bitwise_and
    bitwise_left_shift exp log1p sigmoid tanh abs sign round nan_to_num isnan erf digamma atan2 logaddexp
    nn.functional.relu nn.functional.gelu nn.functional.silu nn.functional.softplus nn.functional.hardswish
    where masked_fill tril""".split()
TYPES = (torch.float32, torch.float16, torch.int32)
TOLERANCE = {torch.float16: {"atol": 2e-2, "rtol": 1e-2}}


@pytest.fixture(scope="module")
def mps():
    device = _plugin.device()
    _plugin.own_operators()
    return device


def on_device(value):
    return tree_map(lambda one: one.to("mps") if isinstance(one, torch.Tensor) else one, value)


@pytest.mark.parametrize("name", NAMES)
def test_samples_run_as_metal_and_agree_with_the_cpu(mps, name):
    operator = opinfo.infos(name)[0]
    ran = 0
    for dtype in TYPES:
        if dtype not in operator.supported_dtypes("cpu"):
            continue
        for sample in itertools.islice(operator.sample_inputs("cpu", dtype), 4):
            expected = operator(sample.input, *sample.args, **sample.kwargs)
            given = on_device((sample.input, sample.args, sample.kwargs))
            mps.reset_fallbacks()
            result = operator(given[0], *given[1], **given[2])
            assert mps.fallbacks() == {}
            assert result.device.type == "mps"
            torch.testing.assert_close(result.cpu(), expected, equal_nan=True, **TOLERANCE.get(dtype, {}))
            ran += 1
    assert ran > 0


def test_derivatives_run_as_metal(mps):
    functional = torch.nn.functional
    functions = (
        torch.tanh, torch.sigmoid, functional.gelu, functional.silu, functional.elu, functional.leaky_relu,
        functional.hardtanh, functional.logsigmoid, functional.softplus, functional.glu, functional.threshold,
    )  # fmt: skip
    for function in functions:
        more = (0.1, 2.0) if function is functional.threshold else ()
        here = torch.linspace(-4, 4, 24).reshape(4, 6).requires_grad_()
        there = here.detach().to("mps").requires_grad_()
        weights = torch.linspace(0.5, 2, function(here, *more).numel())
        function(here, *more).backward(weights.reshape(function(here, *more).shape))
        result = function(there, *more)
        weights = weights.to("mps").reshape(result.shape)
        mps.reset_fallbacks()
        result.backward(weights)
        assert mps.fallbacks() == {}, function
        torch.testing.assert_close(there.grad.cpu(), here.grad)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_without_dimensions_and_without_elements(mps, shape):
    there = torch.full(shape, 2.0).to("mps")
    mps.reset_fallbacks()
    result = torch.exp(there) + there * 3
    assert mps.fallbacks() == {}
    torch.testing.assert_close(result.cpu(), torch.full(shape, 2.0).exp() + 6)


def test_out_of_another_type_and_shape(mps):
    left, right = torch.arange(6).reshape(2, 3), torch.arange(3) + 1
    out = torch.empty(0, device="mps")
    torch.mul(left.to("mps"), right.to("mps"), out=out)
    torch.testing.assert_close(out.cpu(), (left * right).float())
    with pytest.raises(RuntimeError, match="can't be cast to"):
        torch.add(torch.ones(2, device="mps"), 1.5, out=torch.empty(2, dtype=torch.int64, device="mps"))


FACTORIES = {
    "eye": lambda **where: torch.eye(2, 3, **where),
    "full": lambda **where: torch.full((3,), 1, **where),
    "ones": lambda **where: torch.ones(2, 3, **where).t(),
    "linspace": lambda **where: torch.linspace(0, 3, 4, **where),
}


@pytest.mark.parametrize("name", FACTORIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.complex64], ids=str)
def test_made_of_a_type(mps, name, dtype):
    mps.reset_fallbacks()
    result = FACTORIES[name](dtype=dtype, device="mps")
    assert mps.fallbacks() == {}
    torch.testing.assert_close(result.cpu(), FACTORIES[name](dtype=dtype))


def test_conjugate_of_real_numbers_into_a_result(mps):
    for dtype in (torch.float32, torch.int64, torch.bool):
        there = torch.tensor([0, 1, 2]).to(dtype).to("mps")
        out = torch.empty(3, dtype=dtype, device="mps")
        torch.conj_physical(there, out=out)
        assert torch.equal(out.cpu(), there.cpu())


def test_a_number_to_the_power_of_a_tensor(mps):
    exponent = torch.tensor([0.0, 1.0, 2.5, -3.0])
    mps.reset_fallbacks()
    result, one = 2.0 ** exponent.to("mps"), 1.0 ** exponent.to("mps")
    assert mps.fallbacks() == {}
    torch.testing.assert_close(result.cpu(), 2.0**exponent)
    assert one.tolist() == [1.0] * 4


def test_derivative_of_dropout_of_whole_numbers(mps):
    grad, mask = torch.arange(6).reshape(2, 3), torch.tensor([[True, False, True], [False, True, True]])
    result = torch.ops.aten.native_dropout_backward(grad.to("mps"), mask.to("mps"), 1.5)
    torch.testing.assert_close(result.cpu(), torch.ops.aten.native_dropout_backward(grad, mask, 1.5))


@pytest.mark.parametrize(
    "to", [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.bool], ids=str
)
def test_conversions_of_every_layout(mps, to):
    numbers = torch.cat([torch.randn(5, 77) * 30, torch.zeros(1, 77)])
    layouts = [
        lambda x: x,
        lambda x: x[:, 3:70],
        lambda x: x[1:, ::2],
        lambda x: x.t(),
        lambda x: x[:0],
        lambda x: x[0, 5],
    ]
    for source in (torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.int16, torch.bool):
        own = numbers.to(source)
        for layout in layouts:
            torch.testing.assert_close(layout(own.to("mps")).to(to).cpu(), layout(own).to(to), atol=0, rtol=0)
    special = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0, 1e-45, 65520.0, 3e38, 1.00390625] * 5)
    if to.is_floating_point or to == torch.bool:
        converted = special.to("mps").to(to).cpu()
        torch.testing.assert_close(converted, special.to(to), atol=0, rtol=0, equal_nan=True)


def test_gelu_of_all_sizes(mps):
    x = torch.cat([torch.linspace(-12, 12, 100001), torch.tensor([torch.inf, torch.nan, 1e30, -1e30, 1e-30, -0.0])])
    expected = torch.nn.functional.gelu(x.double())
    found = torch.nn.functional.gelu(x.to("mps")).cpu()
    torch.testing.assert_close(found.double(), expected, atol=1e-6, rtol=1e-6, equal_nan=True)
