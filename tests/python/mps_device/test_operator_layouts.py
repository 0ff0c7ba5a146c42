"""Operators on the device "mps" compute what the CPU computes of tensors, and of derivatives, that are not contiguous.

Half of all operators are compared so by test_opinfo_sample.py; here are those that have numbers or structs beside their
tensors, in all layouts at once.
"""

from __future__ import annotations

import itertools

import operator_layouts
import opinfo_first  # noqa: F401
import pytest
import torch

from metalloid.aten import comparison
from metalloid.mps import _plugin

functional = torch.nn.functional
ACTIVATIONS = {
    "relu": torch.relu,
    "relu6": functional.relu6,
    "leaky_relu": functional.leaky_relu,
    "rrelu": lambda x: functional.rrelu(x, 0.2, 0.2, training=False),
    "threshold": lambda x: functional.threshold(x, 0.1, 2.0),
    "hardtanh": lambda x: functional.hardtanh(x, -0.5, 0.75),
    "elu": lambda x: functional.elu(x, 1.5),
    "selu": functional.selu,
    "celu": lambda x: functional.celu(x, 0.7),
    "softplus": lambda x: functional.softplus(x, 2.0, 1.5),
    "softshrink": lambda x: functional.softshrink(x, 0.3),
    "hardshrink": lambda x: functional.hardshrink(x, 0.3),
    "logit": lambda x: torch.logit(torch.sigmoid(x), 0.2),
    "logit of x": lambda x: torch.logit(x, 0.2),
}
LAYOUTS = (None, *operator_layouts.NAMES)


@pytest.fixture(scope="module", autouse=True)
def device():
    found = _plugin.device()
    _plugin.own_operators()
    return found


def in_layout(tensor, layout):
    other = operator_layouts.arranged(tensor, layout) if layout else None
    return tensor if other is None else other


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_and_their_derivatives_take_every_layout(name, dtype):
    activation, whole = ACTIVATIONS[name], torch.linspace(-2, 2, 96)[torch.randperm(96, generator=torch.Generator().manual_seed(1))]
    for layout, of_seed in itertools.product(LAYOUTS, LAYOUTS):
        here = in_layout(whole.view(2, 3, 4, 4).to(dtype), layout).requires_grad_()
        seed = torch.linspace(0.5, 2, 96).view(2, 3, 4, 4).to(dtype)
        seed = operator_layouts.arranged_seed(seed, of_seed) if of_seed else seed
        there = comparison.on_mps(here)
        expected, result = activation(here), activation(there)
        expected.backward(seed)
        result.backward(comparison.on_mps(seed))
        limits = {"atol": 2e-2, "rtol": 1e-2} if dtype is torch.float16 else {}
        torch.testing.assert_close(result.detach().cpu(), expected.detach(), equal_nan=True, **limits)
        torch.testing.assert_close(there.grad.cpu(), here.grad, equal_nan=True, **limits)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_derivative_of_a_sum(name):
    here = torch.linspace(-2, 2, 16).view(4, 4).requires_grad_()
    there = here.detach().to("mps").requires_grad_()
    ACTIVATIONS[name](here).sum().backward()
    ACTIVATIONS[name](there).sum().backward()
    torch.testing.assert_close(there.grad.cpu(), here.grad, equal_nan=True)


def test_layouts_are_what_they_are_called():
    tensor = torch.arange(24.0).view(1, 2, 3, 4)
    strides = {name: operator_layouts.arranged(tensor, name).stride() for name in operator_layouts.NAMES}
    assert strides == {
        "stepped": (48, 24, 8, 2), "transposed": (1, 1, 2, 6), "expanded": (24, 0, 4, 1), "channels last": (24, 1, 8, 2),
        "offset": (24, 12, 4, 1),
    }  # fmt: skip
    assert operator_layouts.arranged(tensor, "offset").storage_offset() == 3
    for name in operator_layouts.NAMES:
        assert name == "expanded" or torch.equal(operator_layouts.arranged(tensor, name), tensor)
    assert operator_layouts.arranged_seed(tensor, "expanded").stride() == (0, 0, 0, 0)
    assert operator_layouts.arranged(torch.arange(4), "expanded") is None
