"""Reductions, scans, softmax, normalisation and losses as Metal kernels: a few of OpInfo's samples, and cases of their own."""

from __future__ import annotations

import copy

import opinfo_first  # noqa: F401
import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map

from metalloid.aten import opinfo

DTYPES = [torch.float32, torch.float16, torch.int64]
TOLERANCE = {torch.float16: {"atol": 2e-2, "rtol": 1e-2}}
SAMPLES = 4
# OpInfo's name, and the operators that must not have fallen back.
OPERATORS = {
    "sum": "sum", "mean": "mean", "prod": "prod", "amax": "amax", "argmin": "argmin", "any": "any", "all": "all",
    "count_nonzero": "count_nonzero", "var": "var", "std_mean": "std_mean", "linalg.vector_norm": "linalg_vector_norm",
    "cumsum": "cumsum", "cummax": "_cummax_helper", "softmax": "_softmax",
    "log_softmax": "_log_softmax", "nn.functional.layer_norm": "native_layer_norm",
    "nn.functional.group_norm": "native_group_norm", "nn.functional.batch_norm": "native_batch_norm",
    "nn.functional.mse_loss": "mse_loss", "nn.functional.smooth_l1_loss": "smooth_l1_loss",
    "nn.functional.huber_loss": "huber_loss", "nn.functional.nll_loss": "nll_loss",
}  # fmt: skip
CASES = [
    pytest.param(op, OPERATORS[op.name], dtype, id=f"{op.name}-{str(dtype).removeprefix('torch.')}")
    for name in OPERATORS
    for op in opinfo.infos(name)
    if op.name == name and op.variant_test_name == ""
    for dtype in DTYPES
    if dtype in op.supported_dtypes("cpu")
]


def on_mps(value):
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().to("mps").requires_grad_(value.requires_grad)


def assert_same(actual, expected):
    for ours, theirs in zip(tree_leaves(actual), tree_leaves(expected), strict=True):
        assert ours.device.type == "mps"
        torch.testing.assert_close(ours.cpu(), theirs, equal_nan=True, **TOLERANCE.get(theirs.dtype, {}))


def fallen_back(device, operator: str) -> list[str]:
    return [name for name in device.fallbacks() if name.removeprefix("aten::").partition(".")[0].startswith(operator)]


@pytest.mark.parametrize(("op", "operator", "dtype"), CASES)
def test_samples(device, op, operator, dtype):
    samples = list(op.sample_inputs("cpu", dtype))[:SAMPLES]
    assert samples
    for sample in samples:
        expected = op(sample.input, *sample.args, **sample.kwargs)
        moved = tree_map(on_mps, (sample.input, sample.args, sample.kwargs))
        device.reset_fallbacks()
        actual = op(moved[0], *moved[1], **moved[2])
        assert not fallen_back(device, operator)
        assert_same(actual, expected)


GRADIENTS = {
    "softmax": (lambda x: x.softmax(1), "_softmax_backward_data"),
    "log_softmax": (lambda x: x.log_softmax(0), "_log_softmax_backward_data"),
    "layer_norm": (lambda x: torch.nn.functional.layer_norm(x, (70,), x[0], x[1]), "native_layer_norm_backward"),
    "group_norm": (lambda x: torch.nn.functional.group_norm(x, 5, x[:, 0].repeat(12)[:70], None), "native_group_norm_backward"),
    "batch_norm": (lambda x: torch.nn.functional.batch_norm(x, None, None, x[0], x[1], True), "native_batch_norm_backward"),
    "cross_entropy": (lambda x: torch.nn.functional.cross_entropy(x, torch.arange(6, device=x.device)), "nll_loss_backward"),
    "huber_loss": (lambda x: torch.nn.functional.huber_loss(x, x.flip(0)), "huber_loss_backward"),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(device, name):
    function, operator = GRADIENTS[name]
    torch.manual_seed(0)
    x = torch.randn(6, 70, requires_grad=True)
    there = on_mps(x)
    expected, actual = function(x), function(there)
    upstream = torch.randn_like(expected)
    device.reset_fallbacks()
    (ours,) = torch.autograd.grad(actual, there, upstream.to("mps"))
    assert not fallen_back(device, operator)
    (theirs,) = torch.autograd.grad(expected, x, upstream)
    torch.testing.assert_close(ours.cpu(), theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("shape", [(3000,), (7, 2000), (1500, 70), (5, 0), (4, 3, 2, 5)])
@pytest.mark.parametrize("name", ["sum", "amax", "std", "logsumexp"])
def test_sizes_and_strides(device, name, shape):
    torch.manual_seed(0)
    values = torch.randn(shape)
    for tensor in (values, values.transpose(0, -1), values[..., ::2]):
        if name == "amax" and not tensor.numel():
            continue
        for dims in (0, -1, tuple(range(tensor.dim()))):
            expected = getattr(tensor, name)(dim=dims, keepdim=True)
            actual = getattr(tensor.to("mps"), name)(dim=dims, keepdim=True)
            torch.testing.assert_close(actual.cpu(), expected, equal_nan=True, atol=1e-4, rtol=1e-5)


def test_places_of_extremes(device):
    values = torch.tensor([[1.0, 5.0, 5.0, float("nan"), float("nan")], [3.0, 3.0, 1.0, 1.0, 2.0]]).repeat(1, 40)
    there = values.to("mps")
    assert_same(there.max(1), values.max(1))
    assert_same(there.min(1), values.min(1))
    assert_same(there.argmax(1), values.argmax(1))
    assert_same(there.cummax(1), values.cummax(1))


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "max"])
def test_many_numbers_become_one(device, name):
    torch.manual_seed(0)
    values = torch.randn(512, 300)  # in parts
    there = values.to("mps")
    torch.testing.assert_close(getattr(there, name)().cpu(), getattr(values, name)(), atol=1e-2, rtol=1e-5)
    if name != "max":
        expected = getattr(values, name)(dim=(0, 1), keepdim=True)
        torch.testing.assert_close(getattr(there, name)(dim=(0, 1), keepdim=True).cpu(), expected, atol=1e-2, rtol=1e-5)
    there[100, 200] = float("nan")
    assert getattr(there, name)().isnan().item()


def with_exceptions(*shape):
    """Random numbers, with an infinity and something that is not a number here and there."""
    tensor = torch.randn(*shape, generator=torch.Generator().manual_seed(7))
    tensor.view(-1)[:: tensor.numel() // 5] = torch.nan
    tensor.view(-1)[1 :: tensor.numel() // 3] = -torch.inf
    return tensor


# Many results of simdgroups, side by side in memory or not, in whole rounds of lanes and others.
@pytest.mark.parametrize(
    ("shape", "dims"),
    [((70, 333), (1,)), ((600, 128), (1,)), ((450, 77), (1,)), ((97, 5, 100), (0,)), ((90, 1100), (0,)), ((3, 40, 17, 9), (0, 2, 3)),
     ((5, 130, 40), (1,)), ((70, 6, 66, 3), (1, 2))],
)  # fmt: skip
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "var"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_many_results(device, name, shape, dims, dtype):
    for tensor in (torch.randn(*shape), with_exceptions(*shape)):
        tensor = tensor.to(dtype)
        for each in (tensor, tensor.transpose(0, -1).contiguous().transpose(0, -1)):
            expected = getattr(each, name)(dim=dims)
            actual = getattr(each.to("mps"), name)(dim=dims).cpu()
            tolerance = 1e-4 if dtype == torch.float32 else 3e-2
            torch.testing.assert_close(actual, expected, equal_nan=True, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(70, 333), (97, 5, 100), (5, 130, 40)])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_many_places(device, shape, dim):
    for tensor in (with_exceptions(*shape), torch.randint(-9, 9, shape)):
        for name in ("max", "min"):
            expected, actual = getattr(tensor, name)(dim), getattr(tensor.to("mps"), name)(dim)
            torch.testing.assert_close(actual[0].cpu(), expected[0], equal_nan=True)
            torch.testing.assert_close(actual[1].cpu(), expected[1])
        torch.testing.assert_close(tensor.to("mps").argmax(dim).cpu(), tensor.argmax(dim))
        torch.testing.assert_close(tensor.to("mps").count_nonzero(dim).cpu(), tensor.count_nonzero(dim))


@pytest.mark.parametrize("shape", [(70, 333), (3, 1000), (4, 70, 33), (80, 64, 2)])
@pytest.mark.parametrize("dim", [1, -1])
def test_rows(device, shape, dim):
    """Softmax and scans of rows that a simdgroup or several share, or that lie side by side."""
    tensor, gradient = torch.randn(*shape), torch.randn(*shape)
    for function in (torch.softmax, torch.log_softmax, torch.cumsum, lambda x, dim: x.cummax(dim).values):
        results = []
        for device_name in ("cpu", "mps"):
            x = tensor.detach().clone().to(device_name).requires_grad_()
            y = function(x, dim)
            y.backward(gradient.to(device_name))
            results.append((y.detach().cpu(), x.grad.cpu()))
        torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-4)
    broken = tensor.clone()
    broken.view(-1)[5] = torch.nan
    broken.select(dim, 1).fill_(torch.inf)
    for function in (torch.softmax, torch.log_softmax):
        torch.testing.assert_close(function(broken.to("mps"), dim).cpu(), function(broken, dim), equal_nan=True)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(
    ("module", "shape"),
    [(torch.nn.LayerNorm, (70, 333)), (torch.nn.LayerNorm, (3, 1000)), (torch.nn.GroupNorm, (20, 12)),
     (torch.nn.GroupNorm, (20, 12, 7)), (torch.nn.GroupNorm, (2, 12, 67)), (torch.nn.GroupNorm, (30, 12, 10, 13)),
     (torch.nn.BatchNorm1d, (5, 6, 200)), (torch.nn.BatchNorm1d, (5, 6, 20))],
)  # fmt: skip
def test_norms(device, module, shape, affine):
    options = {"elementwise_affine" if module is torch.nn.LayerNorm else "affine": affine}
    norm = module(*((4, 12) if module is torch.nn.GroupNorm else shape[1:2]), **options)
    for parameter in norm.parameters():
        torch.nn.init.normal_(parameter)
    tensor, gradient = torch.randn(*shape) + 3, torch.randn(*shape)
    for training in (True, False):
        results = []
        for device_name in ("cpu", "mps"):
            own = copy.deepcopy(norm).to(device_name).train(training)
            x = tensor.detach().clone().to(device_name).requires_grad_()
            y = own(x)
            y.backward(gradient.to(device_name))
            results.append([each.detach().cpu() for each in (y, x.grad, *(p.grad for p in own.parameters()))])
        torch.testing.assert_close(results[1], results[0], rtol=1e-3, atol=1e-3)


def test_results_elsewhere(device):
    values = torch.randn(4, 6)
    out = torch.empty(6, 2, device="mps").t()[0]
    torch.sum(values.to("mps"), 0, out=out)
    torch.testing.assert_close(out.cpu(), values.sum(0))
    wide = torch.empty(4, dtype=torch.float16, device="mps")
    torch.sum(values.to("mps"), 1, dtype=torch.float16, out=wide)
    torch.testing.assert_close(wide.cpu(), values.sum(1, dtype=torch.float16))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.complex64, torch.int64])
def test_of_no_elements(device, dtype):
    empty = torch.empty(0, dtype=dtype)
    operations = [torch.sum, torch.prod, torch.count_nonzero]
    if dtype is not torch.int64:
        operations += [torch.linalg.norm, torch.mean, lambda x: torch.linalg.vector_norm(x, 0)]
    for operation in operations:
        assert_same(operation(empty.to("mps")), operation(empty))
    assert_same(torch.zeros(3, 0, dtype=dtype, device="mps").sum(1), torch.zeros(3, 0, dtype=dtype).sum(1))


def test_classes_out_of_bounds(device):
    scores = torch.zeros(2, 3, device="mps")
    with pytest.raises(RuntimeError, match="Target 3 is out of bounds"):
        torch.nn.functional.nll_loss(scores, torch.tensor([0, 3], device="mps"))
        torch.mps.synchronize()
