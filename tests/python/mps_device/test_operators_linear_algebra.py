"""Products of matrices, attention, convolution, pooling, padding and resampling as Metal kernels, against the CPU's."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opinfo_first  # noqa: E402, F401
from torch.nn import functional  # noqa: E402

from metalloid.mps import _plugin  # noqa: E402

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
TOLERANCE = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 8e-2}

# Name: the function, the shapes of its tensors, the operators that must not fall back, with those of gradients.
CASES = {
    "mm": (torch.mm, [(40, 33), (33, 50)], ["mm.out"]),
    "mm_of_views": (lambda a, b: a.t() @ b[:, ::2], [(7, 5), (7, 6)], ["mm.out"]),
    "mm_beyond_tiles": (torch.mm, [(65, 130), (130, 200)], ["mm.out"]),
    "mm_of_large_tiles": (lambda a, b: a @ b.t(), [(520, 20), (513, 20)], ["mm.out"]),
    "mm_of_broadcasts": (lambda a, b: a.expand(9, 10) @ b.expand(10, 20), [(1, 10), (10, 1)], ["mm.out"]),
    "addmm_of_tiles": (torch.addmm, [(90,), (70, 40), (40, 90)], ["addmm.out"]),
    "addmm_in_place": (lambda a, b, c: a.clone().addmm_(b, c), [(70, 90), (70, 40), (40, 90)], ["addmm.out"]),
    "baddbmm_of_tiles": (torch.baddbmm, [(3, 1, 20), (3, 17, 33), (3, 33, 20)], ["baddbmm.out"]),
    "linear_of_few_rows": (functional.linear, [(5, 64), (96, 64), (96,)], ["linear", "addmm.out"]),
    "linear_of_few_rows_and_long_sums": (functional.linear, [(7, 75), (19, 75), (19,)], ["linear"]),
    "mm_of_wide_tiles": (torch.mm, [(111, 20), (20, 112)], ["mm.out"]),
    "mm_long": (torch.mm, [(2, 300), (300, 3)], ["mm.out"]),
    "bmm": (torch.bmm, [(3, 4, 5), (3, 5, 6)], ["bmm.out"]),
    "addmm": (lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), [(6,), (4, 5), (5, 6)], ["addmm.out"]),
    "baddbmm": (torch.baddbmm, [(1, 6), (3, 4, 5), (3, 5, 6)], ["baddbmm.out"]),
    "addbmm": (torch.addbmm, [(4, 6), (3, 4, 5), (3, 5, 6)], ["addbmm"]),
    "addmv": (torch.addmv, [(4,), (4, 5), (5,)], ["addmv.out"]),
    "addr": (torch.addr, [(4, 5), (4,), (5,)], ["addr"]),
    "dot": (torch.dot, [(200,), (200,)], ["dot"]),
    "linear": (functional.linear, [(2, 3, 8), (4, 8), (4,)], ["linear", "linear_backward", "addmm.out"]),
    "attention_for_training": (
        functional.scaled_dot_product_attention, [(2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8)], ["bmm.out"],
    ),
    "conv1d": (lambda x, w: functional.conv1d(x, w, stride=2, padding=1), [(2, 4, 9), (6, 4, 3)], ["convolution_overrideable"]),
    "conv2d": (functional.conv2d, [(2, 16, 9, 9), (16, 16, 3, 3), (16,)], ["convolution_overrideable"]),
    "conv2d_in_groups": (
        lambda x, w: functional.conv2d(x, w, padding=2, dilation=2, groups=2),
        [(2, 4, 6, 7), (6, 2, 3, 2)], ["convolution_overrideable", "convolution_backward_overrideable"],
    ),
    "conv3d": (functional.conv3d, [(1, 2, 4, 5, 6), (3, 2, 2, 2, 2), (3,)], ["convolution_overrideable"]),
    "conv2d_of_tiles": (
        lambda x, w, b: functional.conv2d(x, w, b, stride=2, padding=1),
        [(2, 20, 17, 19), (70, 20, 3, 3), (70,)], ["convolution_overrideable"],
    ),
    "conv2d_of_one_place": (functional.conv2d, [(2, 9, 5, 7), (20, 9, 1, 1), (20,)], ["convolution_overrideable"]),
    "conv2d_of_shared_lines": (
        lambda x, w, b: functional.conv2d(x, w, b, padding=(2, 1), dilation=(2, 1)),
        [(2, 33, 6, 27), (35, 33, 3, 3), (35,)], ["convolution_overrideable", "convolution_backward_overrideable"],
    ),
    "conv2d_of_shared_lines_with_strides": (
        lambda x, w: functional.conv2d(x, w, stride=(3, 2), padding=1),
        [(2, 32, 9, 50), (9, 32, 2, 3)], ["convolution_overrideable"],
    ),
    "conv2d_of_own_lines": (
        lambda x, w: functional.conv2d(x, w, stride=2, padding=3), [(1, 3, 11, 90), (70, 3, 7, 7)],
        ["convolution_overrideable"],
    ),
    "conv2d_in_depth": (
        lambda x, w, b: functional.conv2d(x, w, b, stride=(1, 2), padding=1, groups=5),
        [(2, 5, 9, 75), (10, 1, 3, 3), (10,)], ["convolution_overrideable"],
    ),
    "conv2d_in_depth_of_3_by_3": (
        lambda x, w, b: functional.conv2d(x, w, b, padding=(2, 1), groups=3),
        [(2, 3, 9, 75), (6, 1, 3, 3), (6,)], ["convolution_overrideable"],
    ),
    "conv2d_in_depth_without_padding": (
        lambda x, w: functional.conv2d(x, w, groups=2), [(1, 2, 3, 34), (2, 1, 3, 3)], ["convolution_overrideable"],
    ),
    "conv2d_of_turned_images": (
        lambda x, w: functional.conv2d(x.transpose(-1, -2), w, padding=1), [(2, 8, 33, 9), (8, 8, 3, 3)],
        ["convolution_overrideable"],
    ),
    "conv3d_of_few_rows": (
        lambda x, w: functional.conv3d(x, w, padding=1), [(2, 2, 4, 5, 37), (3, 2, 3, 3, 3)], ["convolution_overrideable"],
    ),
    "conv_transpose2d": (
        lambda x, w: functional.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
        [(2, 3, 4, 5), (3, 4, 3, 3)], ["convolution_overrideable", "convolution_backward_overrideable"],
    ),
    "max_pool1d": (lambda x: functional.max_pool1d(x, 3, 2), [(2, 3, 11)], ["max_pool2d_with_indices.out"]),
    "max_pool2d": (
        lambda x: functional.max_pool2d(x, 3, 2, 1, 2, ceil_mode=True),
        [(2, 3, 9, 8)], ["max_pool2d_with_indices.out", "max_pool2d_with_indices_backward.grad_input"],
    ),
    "max_pool3d": (lambda x: functional.max_pool3d(x, 2), [(2, 3, 4, 6, 5)], ["max_pool3d_with_indices"]),
    "avg_pool2d": (
        lambda x: functional.avg_pool2d(x, 3, 2, 1, True, False),
        [(2, 3, 9, 8)], ["avg_pool2d.out", "avg_pool2d_backward.grad_input"],
    ),
    "avg_pool3d": (lambda x: functional.avg_pool3d(x, 2), [(2, 4, 6, 5)], ["avg_pool3d.out"]),
    "adaptive_avg_pool2d": (
        lambda x: functional.adaptive_avg_pool2d(x, (3, 5)),
        [(2, 3, 7, 4)], ["_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward"],
    ),
    "adaptive_max_pool3d": (
        lambda x: functional.adaptive_max_pool3d(x, (2, 3, 1)), [(2, 3, 4, 4, 4)], ["adaptive_max_pool3d.out"],
    ),
    "reflection_pad1d": (
        lambda x: functional.pad(x, (2, -1), "reflect"),
        [(2, 3, 5)], ["reflection_pad1d.out", "reflection_pad1d_backward.grad_input"],
    ),
    "reflection_pad2d": (
        lambda x: functional.pad(x, (1, 2, 3, 0), "reflect"),
        [(2, 3, 5, 4)], ["reflection_pad2d", "reflection_pad2d_backward"],
    ),
    "replication_pad3d": (
        lambda x: functional.pad(x, (1, 5, 3, 0, 0, 2), "replicate"),
        [(2, 3, 2, 4, 3)], ["replication_pad3d.out", "replication_pad3d_backward"],
    ),
    "unfold_and_fold": (
        lambda x: functional.fold(functional.unfold(x, 3, 2, 1, 2), (7, 8), 3, 2, 1, 2), [(2, 3, 7, 8)], ["im2col", "col2im"],
    ),
    "grid_sample": (
        lambda x, grid: functional.grid_sample(x, grid.tanh(), "bicubic", "reflection", False),
        [(2, 3, 5, 4), (2, 3, 6, 2)], ["grid_sampler_2d", "grid_sampler_2d_backward"],
    ),
    "upsample_nearest2d": (
        lambda x: functional.interpolate(x, (7, 4), mode="nearest"),
        [(2, 3, 4, 5)], ["upsample_nearest2d.out", "upsample_nearest2d_backward.grad_input"],
    ),
    "_upsample_nearest_exact1d": (
        lambda x: functional.interpolate(x, (7,), mode="nearest-exact"),
        [(2, 3, 4)], ["_upsample_nearest_exact1d.out", "_upsample_nearest_exact1d_backward.grad_input"],
    ),
    "upsample_linear1d": (
        lambda x: functional.interpolate(x, (7,), mode="linear", align_corners=True),
        [(2, 3, 4)], ["upsample_linear1d.out", "upsample_linear1d_backward.grad_input"],
    ),
    "upsample_bilinear2d": (
        lambda x: functional.interpolate(x, (7, 4), mode="bilinear", align_corners=False),
        [(2, 3, 4, 5)], ["upsample_bilinear2d.out", "upsample_bilinear2d_backward.grad_input"],
    ),
    "upsample_trilinear3d": (
        lambda x: functional.interpolate(x, (7, 4, 3), mode="trilinear", align_corners=True),
        [(2, 3, 4, 5, 6)], ["upsample_trilinear3d.out", "upsample_trilinear3d_backward.grad_input"],
    ),
    "upsample_bicubic2d": (
        lambda x: functional.interpolate(x, (7, 4), mode="bicubic", align_corners=True),
        [(2, 3, 4, 5)], ["upsample_bicubic2d.out", "upsample_bicubic2d_backward.grad_input"],
    ),
    "_upsample_bilinear2d_aa": (
        lambda x: functional.interpolate(x, (3, 9), mode="bilinear", antialias=True),
        [(2, 3, 8, 7)], ["_upsample_bilinear2d_aa.out", "_upsample_bilinear2d_aa_backward.grad_input"],
    ),
    "_upsample_bicubic2d_aa": (
        lambda x: functional.interpolate(x, (3, 9), mode="bicubic", antialias=True),
        [(2, 3, 8, 7)], ["_upsample_bicubic2d_aa.out", "_upsample_bicubic2d_aa_backward.grad_input"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def device():
    try:
        module = _plugin.device()
        if not torch._C._dispatch_has_kernel_for_dispatch_key("aten::mm.out", "MPS"):
            _plugin.own_operators()
    except _plugin.CannotBuild as error:
        pytest.skip(str(error))
    return module


def _fallen_back(device) -> set[str]:
    return {name.removeprefix("aten::") for name in device.fallbacks()}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_as_on_the_cpu(device, name, dtype):
    function, shapes, operators = CASES[name]
    torch.manual_seed(0)
    on_cpu = [torch.randn(shape, dtype=dtype).float().requires_grad_() for shape in shapes]  # sums of the CPU are exact
    on_mps = [tensor.detach().to("mps", dtype).requires_grad_() for tensor in on_cpu]
    device.reset_fallbacks()
    results = []
    for tensors in (on_cpu, on_mps):
        output = function(*tensors)
        weight = torch.linspace(-1, 1, output.numel()).reshape(output.shape).to(dtype).to(output)
        gradients = torch.autograd.grad(output, tensors, weight)
        results.append([output.detach(), *gradients])
    assert _fallen_back(device).isdisjoint(operators)
    tolerance = TOLERANCE[dtype]
    for ours, expected in zip(results[1], results[0], strict=True):
        assert ours.device.type == "mps" and ours.dtype == dtype
        torch.testing.assert_close(ours.cpu().float(), expected, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("features", [50, 130])
def test_attention_in_one_kernel(device, dtype, is_causal, features):
    """Masks, groups of heads and rows of which everything is masked, without gradients; more rows, keys and features than
    a threadgroup takes at once."""
    torch.manual_seed(0)
    query, key, value = (torch.randn(shape, dtype=dtype) for shape in [(2, 4, 70, 24), (2, 2, 150, 24), (2, 2, 150, features)])
    mask = None if is_causal else torch.rand(2, 1, 70, 150) > 0.4
    if mask is not None:
        mask[0, 0, 3] = False
    expected = functional.scaled_dot_product_attention(
        query, key, value, mask, is_causal=is_causal, enable_gqa=True, scale=0.3
    )
    device.reset_fallbacks()
    ours = functional.scaled_dot_product_attention(
        *(tensor if tensor is None else tensor.to("mps") for tensor in (query, key, value, mask)),
        is_causal=is_causal, enable_gqa=True, scale=0.3,
    )  # fmt: skip
    assert _fallen_back(device).isdisjoint({"_softmax.out", "bmm.out", "_safe_softmax"})
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(ours.cpu(), expected, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.complex64], ids=str)
def test_products_of_other_numbers(device, dtype):
    torch.manual_seed(0)
    kind = torch.complex64 if dtype.is_complex else torch.float32
    first, second = (torch.randn(shape, dtype=kind).mul(9).to(dtype) for shape in [(17, 20), (20, 18)])
    if dtype.is_complex:
        second = second.conj()
    device.reset_fallbacks()
    ours = first.to("mps") @ second.to("mps")
    assert "mm.out" not in _fallen_back(device)
    torch.testing.assert_close(ours.cpu(), first @ second, atol=1e-3, rtol=1e-5)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_triangular_solve(device, upper, left):
    torch.manual_seed(0)
    matrix = torch.randn(2, 1, 5, 5) + 4 * torch.eye(5)
    other = torch.randn(1, 3, 5, 5)
    device.reset_fallbacks()
    ours = torch.linalg.solve_triangular(matrix.to("mps"), other.to("mps"), upper=upper, left=left)
    assert "linalg_solve_triangular" not in _fallen_back(device)
    torch.testing.assert_close(ours.cpu(), torch.linalg.solve_triangular(matrix, other, upper=upper, left=left))


def test_empty_and_given_outputs(device):
    first, second = torch.randn(3, 0, device="mps"), torch.randn(0, 4, device="mps")
    assert (first @ second).tolist() == [[0.0] * 4] * 3
    out = torch.full((4, 3), torch.nan, device="mps").t()
    torch.mm(torch.ones(3, 2, device="mps"), torch.ones(2, 4, device="mps"), out=out)
    assert out.tolist() == [[2.0] * 4] * 3 and out.stride() == (1, 3)
    torch.addmm(torch.full((3, 4), torch.nan, device="mps"), first, second, beta=0, out=out)
    assert out.tolist() == [[0.0] * 4] * 3


@pytest.mark.parametrize(
    ("shapes"),
    [
        ((2, 3, 4), (5, 4), (3, 5)), ((2, 3, 4), (5, 4), (2, 1, 5)), ((2, 3, 4), (5, 4), (1,)), ((2, 3, 4), (5, 4), ()),
        ((2, 1, 3, 4), (5, 4), (2, 1, 3, 1)), ((3, 4), (5, 4), (3, 5)), ((4,), (5, 4), (5,)), ((2, 3, 4), (4,), ()),
        ((2, 3, 0), (5, 0), (3, 5)), ((0, 4), (5, 4), (5,)), ((2, 3, 4), (5, 4), (2, 3, 5)),
    ],
)  # fmt: skip
def test_a_bias_of_any_shape_is_added(device, shapes):
    torch.manual_seed(0)
    given = [torch.randn(shape) for shape in shapes]
    result = functional.linear(*(one.to("mps") for one in given))
    torch.testing.assert_close(result.cpu(), functional.linear(*given))


def test_errors_in_pytorchs_words(device):
    with pytest.raises(RuntimeError, match=r"linear\(\): input and weight.T shapes cannot be multiplied \(2x3 and 4x5\)"):
        functional.linear(torch.ones(2, 3, device="mps"), torch.ones(5, 4, device="mps"))
    with pytest.raises(RuntimeError, match="inconsistent tensor size, expected tensor"):
        torch.dot(torch.ones(2, device="mps"), torch.ones(3, device="mps"))
    with pytest.raises(RuntimeError, match="should be the same"):
        functional.conv2d(torch.ones(1, 2, 4, 4, device="mps"), torch.ones(3, 2, 2, 2, device="mps", dtype=torch.float16))


def test_the_derivative_of_a_normalized_element_is_zero(device):
    x = torch.tensor([[1.7]], device="mps", requires_grad=True)
    weight, bias = torch.tensor([0.3], device="mps"), torch.tensor([0.2], device="mps")
    functional.layer_norm(x, (1,), weight, bias).backward(torch.tensor([[-1.1]], device="mps"))
    assert x.grad.item() == 0


def test_dot_of_two_devices_is_refused(device):
    for operator in (torch.dot, torch.vdot):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            operator(torch.ones(3, device="mps"), torch.ones(3))


def test_an_operator_of_the_cpu_may_leave_a_lazy_conjugate(device):
    torch.manual_seed(0)
    factors, pivots = torch.linalg.lu_factor(torch.randn(3, 3, dtype=torch.complex64))
    right = torch.randn(4, 3, dtype=torch.complex64)
    result = torch.linalg.lu_solve(factors.to("mps"), pivots.to("mps"), right.to("mps"), left=False)
    torch.testing.assert_close(result.cpu(), torch.linalg.lu_solve(factors, pivots, right, left=False).resolve_conj())
