"""Operators of torch_mps/operators/ that read and write where indices say, sort, draw, and optimise."""

from __future__ import annotations

import fractions

import pytest

torch = pytest.importorskip("torch")

import opinfo_first  # noqa: E402, F401
from torch.utils import _pytree  # noqa: E402

from metalloid.aten import opinfo  # noqa: E402

SAMPLES = 4
DTYPES = (torch.float32, torch.float16, torch.int64)
# OpInfo's operators, and the overloads that must not fall back.
OPERATORS = {
    "__getitem__": ["index.Tensor"],
    "index_put": ["_index_put_impl_"],
    "index_select": ["index_select"],
    "index_add": ["index_add"],
    "index_copy": ["index_copy"],
    "index_fill": ["index_fill_.int_Scalar"],
    "gather": ["gather"],
    "scatter": ["scatter.src", "scatter.value"],
    "scatter_add": ["scatter_add"],
    "scatter_reduce": ["scatter_reduce.two"],
    "take": ["take"],
    "put": ["put_"],
    "flip": ["flip"],
    "sort": ["sort.stable"],
    "topk": ["topk"],
    "kthvalue": ["kthvalue.values"],
    "median": ["median", "median.dim_values"],
    "nonzero": ["nonzero"],
    "masked_select": ["masked_select"],
    "masked_scatter": ["masked_scatter_"],
    "cat": ["cat"],
    "searchsorted": ["searchsorted.Tensor"],
    "tril_indices": ["tril_indices"],
}
WITH_INDICES = ("sort", "topk", "kthvalue", "median")


def on_mps(value):
    if isinstance(value, torch.Tensor):
        return value.to("mps")
    return torch.device("mps") if isinstance(value, torch.device) or value == "cpu" else value


def tensors(result) -> list[torch.Tensor]:
    return [one for one in _pytree.tree_leaves(result) if isinstance(one, torch.Tensor)]


def fell_back(device, names) -> set[str]:
    return {name.removeprefix("aten::") for name in device.fallbacks()} & set(names)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_results_are_those_of_the_cpu(device, name, dtype):
    for op in (op for op in opinfo.infos(name) if dtype in op.dtypes):
        for number, sample in enumerate(op.sample_inputs("cpu", dtype)):
            if number == SAMPLES:
                break
            expected = op(sample.input, *sample.args, **sample.kwargs)
            given, args, kwargs = _pytree.tree_map(on_mps, (sample.input, sample.args, sample.kwargs))
            device.reset_fallbacks()
            result = op(given, *args, **kwargs)
            assert not fell_back(device, OPERATORS[name])
            pairs = list(zip(tensors(result), tensors(expected), strict=True))
            if name in WITH_INDICES and dtype != torch.float32:
                pairs = pairs[:1]  # which of several equal elements is found is open
            for one, other in pairs:
                torch.testing.assert_close(one.cpu(), other, equal_nan=True)


@pytest.mark.parametrize(
    "read",
    [
        lambda tensor, index: tensor[index],
        lambda tensor, index: tensor.index_select(0, index),
        lambda tensor, index: tensor.gather(0, index),
        lambda tensor, index: tensor.take(index),
        lambda tensor, index: tensor.scatter_(0, index, tensor.clone()),
        lambda tensor, index: tensor.index_put_((index,), tensor.clone(), accumulate=True),
    ],
)
def test_an_index_out_of_range_is_raised_by_whatever_synchronises_and_nothing_is_written(device, read):
    whole = torch.zeros(12, device="mps")
    tensor = whole[4:8]
    tensor.copy_(torch.ones(4))
    read(tensor, torch.tensor([0, 1, 2, 7], device="mps"))
    with pytest.raises(torch.AcceleratorError, match="index 7 is out of bounds for dimension 0 with size 4"):
        whole.cpu()
    assert whole.cpu()[:4].eq(0).all() and whole.cpu()[8:].eq(0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.bool], ids=str)
@pytest.mark.parametrize("shape", [(3, 40), (3, 5000), (45, 7, 33), (2, 3, 5, 64), (9, 1)])
def test_gather_and_scatter_along_lines(device, dtype, shape):
    tensor = torch.rand(shape).mul(100).to(dtype)
    for dim, size in enumerate(shape):
        for part in (tuple(shape), tuple(max(1, 3 * length // 4) for length in shape)):
            index = torch.rand(part).argsort(dim)  # each place once
            for at in (index, index.int(), index.transpose(0, -1).contiguous().transpose(0, -1)):
                assert torch.equal(tensor.to("mps").gather(dim, at.to("mps")).cpu(), tensor.gather(dim, index))
            result = tensor.to("mps").scatter(dim, index.to("mps"), tensor.flip(dim).to("mps"))
            assert torch.equal(result.cpu(), tensor.scatter(dim, index, tensor.flip(dim)))
        narrow = torch.zeros(1, *shape[1:], dtype=torch.long).expand(shape) % size
        assert torch.equal(tensor.to("mps").gather(dim, narrow.to("mps")).cpu(), tensor.gather(dim, narrow))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.complex64], ids=str)
@pytest.mark.parametrize(
    ("shape", "dim"), [((50, 33), 0), ((50, 2100), 0), ((3, 40, 32), 1), ((40, 31), 0), ((5, 64), 1)]
)
def test_rows_are_added_and_selected_by_index(device, dtype, shape, dim):
    count = 77
    index = torch.randint(0, shape[dim], (count,))
    source_shape = (*shape[:dim], count, *shape[dim + 1 :])
    tensor, source = torch.randint(0, 3, shape).to(dtype), torch.randint(0, 2, source_shape).to(dtype)
    expected = tensor.index_add(dim, index, source)
    for at in (index, index.int(), torch.stack([index, index], 1)[:, 0]):
        assert torch.equal(tensor.to("mps").index_add(dim, at.to("mps"), source.to("mps")).cpu(), expected)
        assert torch.equal(tensor.to("mps").index_select(dim, at.to("mps")).cpu(), tensor.index_select(dim, index))
    shown = index.view([-1 if axis == dim else 1 for axis in range(len(shape))]).expand(source_shape).to("mps")
    assert torch.equal(tensor.to("mps").scatter_add(dim, shown, source.to("mps")).cpu(), expected)
    apart = source.to("mps").transpose(0, 1).contiguous().transpose(0, 1)
    assert torch.equal(tensor.to("mps").index_add(dim, index.to("mps"), apart).cpu(), expected)


@pytest.mark.parametrize(
    ("size", "result"), [((1, 1), (1, 9)), ((7, 33), (20, 100)), ((56, 56), (112, 112)), ((40, 90), (17, 30))]
)
@pytest.mark.parametrize("align_corners", [False, True])
def test_images_are_made_larger_and_smaller(device, size, result, align_corners):
    image = torch.randn(2, 3, *size)
    if size[1] > 1:
        image[0, 0, 0, 0] = torch.inf
    for one in (image, image.half(), image.contiguous(memory_format=torch.channels_last)):
        expected = torch.nn.functional.interpolate(one.float(), result, mode="bilinear", align_corners=align_corners)
        made = torch.nn.functional.interpolate(one.to("mps"), result, mode="bilinear", align_corners=align_corners)
        tolerance = {"rtol": 2e-3, "atol": 2e-3} if one.dtype == torch.half else {"rtol": 1e-4, "atol": 1e-4}
        torch.testing.assert_close(made.cpu().float(), expected, equal_nan=True, **tolerance)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda tensor, index: tensor.t().gather(1, index.view(1, 33).repeat(40, 1)), "dimension 1 with size 40"),
        (
            lambda tensor, index: tensor.scatter_(1, index.view(1, 33).repeat(40, 1), 0 * tensor),
            "dimension 1 with size 40",
        ),
        (lambda tensor, index: tensor.gather(1, index.view(1, 33).repeat(40, 1)), "dimension 1 with size 40"),
        (lambda tensor, index: tensor.index_select(0, index), "dimension 0 with size 40"),
        (lambda tensor, index: tensor.index_add_(0, index, tensor[:33] * 0), "dimension 0 with size 40"),
    ],
)
def test_an_index_of_whole_rows_out_of_range_is_raised(device, read, message):
    tensor = torch.ones(40, 40, device="mps")
    index = torch.arange(33, device="mps")
    index[7] = 40
    read(tensor, index)
    with pytest.raises(torch.AcceleratorError, match="index 40 is out of bounds for " + message):
        tensor.cpu()


def test_random_numbers_follow_from_the_seed_and_have_their_distribution(device):
    from_generator = torch.Generator("mps").manual_seed(7)
    first = torch.empty(20000, device="mps").normal_(2, 3, generator=from_generator)
    second = torch.empty(20000, device="mps").normal_(2, 3, generator=from_generator)
    again = torch.empty(20000, device="mps").normal_(2, 3, generator=from_generator.manual_seed(7))
    assert torch.equal(first.cpu(), again.cpu()) and not torch.equal(first.cpu(), second.cpu())
    assert abs(first.cpu().mean() - 2) < 0.1 and abs(first.cpu().std() - 3) < 0.1

    device.reset_fallbacks()
    uniform = torch.empty(20000, device="mps").uniform_(-1, 3)
    integers = torch.randint(-5, 5, (20000,), device="mps")
    coins = torch.empty(20000, device="mps", dtype=torch.bool).bernoulli_(0.25)
    order = torch.randperm(1000, device="mps")
    assert not fell_back(
        device, ["uniform_", "random_.from", "bernoulli_.float", "randperm.generator_out", "sort.stable"]
    )
    assert uniform.cpu().min() >= -1 and uniform.cpu().max() < 3 and abs(uniform.cpu().mean() - 1) < 0.05
    assert integers.cpu().unique().tolist() == list(range(-5, 5))
    assert abs(coins.cpu().float().mean() - 0.25) < 0.02
    assert torch.equal(order.cpu().sort().values, torch.arange(1000))


@pytest.mark.parametrize(
    ("draw", "count"),
    [
        (lambda n, g: torch.randn(n, device="mps", generator=g), 4),
        (lambda n, g: torch.rand(n, device="mps", generator=g, dtype=torch.float16), 4),
        (lambda n, g: torch.randint(1000, (n,), device="mps", generator=g, dtype=torch.int32), 4),
        (lambda n, g: torch.randint(1000, (n,), device="mps", generator=g), 2),
        (lambda n, g: torch.randint(1 << 40, (n,), device="mps", generator=g, dtype=torch.float32), 2),
    ],
)
def test_a_number_of_the_generator_makes_several_elements(device, draw, count):
    generator = torch.Generator("mps").manual_seed(3)
    whole = draw(13, generator).cpu()
    assert generator.get_offset() == -(-13 // count) and whole.unique().numel() > 10
    state = generator.get_state()
    assert state.numel() == 44, "7 words, seed and offset"
    after = draw(9, generator).cpu()
    assert torch.equal(draw(9, generator.set_state(state)).cpu(), after), "the offset is part of the state"
    generator.manual_seed(3).set_offset(1)
    assert torch.equal(draw(13 - count, generator).cpu(), whole[count:]), "numbers follow from seed and offset"


@pytest.mark.parametrize(
    ("name", "arguments", "distribution"),
    [
        ("uniform_", (-1.0, 3.0), torch.distributions.Uniform(-1.0, 3.0)),
        ("normal_", (2.0, 3.0), torch.distributions.Normal(2.0, 3.0)),
        ("log_normal_", (0.5, 0.25), torch.distributions.LogNormal(0.5, 0.25)),
        ("exponential_", (1.5,), torch.distributions.Exponential(1.5)),
        ("cauchy_", (1.0, 2.0), torch.distributions.Cauchy(1.0, 2.0)),
    ],
)
def test_elements_have_their_distribution(device, name, arguments, distribution):
    count = 40001
    drawn = torch.empty(count, device="mps")
    getattr(drawn, name)(*arguments, generator=torch.Generator("mps").manual_seed(5))
    found = distribution.cdf(drawn.cpu().sort().values)
    # Kolmogorov and Smirnov: 1 of 1000 seeds would exceed it.
    assert (found - (torch.arange(count) + 0.5) / count).abs().max() < 1.95 / count**0.5
    neighbours = torch.corrcoef(distribution.cdf(drawn.cpu())[: count // 4 * 4].view(-1, 4).t())
    assert (neighbours - torch.eye(4)).abs().max() < 0.05, "the four elements of one number are independent"


def test_waiting_times_have_their_distribution(device):
    drawn = torch.empty(40000, device="mps", dtype=torch.int32).geometric_(
        0.3, generator=torch.Generator("mps").manual_seed(5)
    )
    share = drawn.cpu().bincount(minlength=8)[:8] / 40000
    expected = torch.tensor([0.0, *(0.3 * 0.7**i for i in range(7))])
    assert (share - expected).abs().max() < 0.01


@pytest.mark.parametrize("optimizer", ["Adam", "AdamW", "SGD"])
def test_steps_of_fused_optimizers_are_those_of_the_cpu(device, optimizer):
    options = {"momentum": 0.9, "nesterov": True} if optimizer == "SGD" else {"amsgrad": True}
    parameters = {name: torch.linspace(-2, 2, 60).view(6, 10).to(name).requires_grad_() for name in ("cpu", "mps")}
    device.reset_fallbacks()
    for name, parameter in parameters.items():
        stepper = getattr(torch.optim, optimizer)([parameter], lr=0.1, weight_decay=0.01, fused=True, **options)
        for step in range(4):
            parameter.grad = torch.linspace(1, -1 - step, 60).view(6, 10).to(name)
            stepper.step()
    assert not [name for name in device.fallbacks() if "fused" in name]
    torch.testing.assert_close(parameters["mps"].detach().cpu(), parameters["cpu"].detach())


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.float32])
def test_limits_of_whole_numbers_are_whole(device, dtype):
    for start, end in ((0, 1.7), (4.3, 9.9), (3.9, 0)):
        ours = torch.linspace(start, end, 5, dtype=dtype, device="mps")
        torch.testing.assert_close(ours.cpu(), torch.linspace(start, end, 5, dtype=dtype))
        ours = torch.logspace(start, end / 4, 5, base=2, dtype=dtype, device="mps")
        torch.testing.assert_close(ours.cpu(), torch.logspace(start, end / 4, 5, base=2, dtype=dtype))


def test_ranges_of_whole_numbers_are_not_rounded(device):
    for start, end, steps in (
        (4, -3, 50),
        (0, 50, 50),
        (0, 2**31 - 1, 5),
        (-(2**40), 2**40 + 1, 7),
        (-5, 5, 1),
        (3, 3, 4),
    ):
        parts = max(steps - 1, 1)
        expected = [int(fractions.Fraction(start * parts + (end - start) * i, parts)) for i in range(steps)]
        assert torch.linspace(start, end, steps, dtype=torch.int64, device="mps").cpu().tolist() == expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32, torch.int64, torch.bool])
def test_weights_that_bincount_adds(device, dtype):
    places = torch.tensor([3, 1, 1, 0, 3])
    weights = torch.tensor([1, 0, 2, 5, 7]).to(dtype)
    expected = torch.bincount(places, weights.double())
    ours = torch.bincount(places.to("mps"), weights.to("mps"))
    # float64 on the CPU, which a Mac does not have either.
    assert ours.dtype is (dtype if dtype.is_floating_point else torch.int32)
    torch.testing.assert_close(ours.cpu().double(), expected)
