"""What PyTorch reports of calls on "mps" that cannot be done: an error in words, and nothing is written."""

import pytest

torch = pytest.importorskip("torch")

from metalloid.mps import install_on_import  # noqa: E402

functional = torch.nn.functional
TWO_DEVICES = "at least two devices|Passed CPU tensor to MPS op|Expected out tensor to have device|should be the same|expected on mps"


@pytest.fixture(scope="module", autouse=True)
def runner():
    install_on_import()


def a():
    return torch.arange(12.0, device="mps").reshape(3, 4)


def b():
    return torch.arange(12.0).reshape(3, 4)


def indices(*values):
    return torch.tensor(values, device="mps")


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.ones(2, dtype=torch.float64, device="mps"),
        lambda: torch.ones(2, dtype=torch.float64).to("mps"),
        lambda: a().double(),
        lambda: torch.ones(2, dtype=torch.complex128, device="mps"),
        lambda: torch.arange(3, dtype=torch.float64, device="mps"),
    ],
)
def test_64_bit_floats(call):
    with pytest.raises(TypeError, match="MPS framework doesn't support float64"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: a() + b(),
        lambda: a() @ b().t(),
        lambda: torch.mm(b(), a().t()),
        lambda: torch.bmm(a()[None], b()[None].mT),
        lambda: torch.addmm(torch.ones(3), a(), a().t()[:, :3]),
        lambda: functional.linear(a(), torch.ones(5, 4)),
        lambda: torch.cat([a(), b()]),
        lambda: torch.where(a() > 0, a(), b()),
        lambda: a().index_select(0, torch.tensor([0])),
        lambda: functional.embedding(torch.tensor([0]), a()),
        lambda: functional.conv2d(torch.ones(1, 1, 4, 4, device="mps"), torch.ones(1, 1, 2, 2)),
        lambda: functional.layer_norm(a(), (4,), torch.ones(4)),
        lambda: a().gather(0, torch.zeros(1, 4, dtype=torch.long)),
        lambda: torch.sigmoid(a(), out=b()),
    ],
)
def test_tensors_of_two_devices(call):
    with pytest.raises(RuntimeError, match=TWO_DEVICES):
        call()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x + torch.ones(5, device="mps"), "must match the size of tensor b"),
        (lambda x: x @ x, "shapes cannot be multiplied"),
        (lambda x: x @ x.t().half(), "same dtype"),
        (lambda x: x.expand(2, 3, 4).add_(1), "more than one element of the written-to tensor"),
        (lambda x: torch.add(x[:2], 1, out=x[1:]), "refer to a single memory location"),
        (lambda x: torch.exp(x, out=torch.ones(3, 4, device="mps", dtype=torch.int32)), "can't be cast"),
        (lambda x: torch.ones(2, device="mps", dtype=torch.int32).div_(2), "can't be cast"),
        (lambda x: torch.ones(1, device="mps:1"), "there is one MPS device"),
        (lambda x: torch.empty(-1, device="mps"), "negative dimension"),
        (lambda x: torch.empty(1 << 50, device="mps"), "MPS backend out of memory .*Tried to allocate 4194304.00 GiB"),
        (lambda x: torch.randn(3, device="mps", generator=torch.Generator()), "Expected a 'mps' device type"),
        (lambda x: functional.linear(x.int(), x.int()), "MPS device does not support linear for non-float inputs"),
        (lambda x: functional.linear(x, x.int()), "MPS device does not support linear for non-float weights"),
        (lambda x: functional.linear(x, x, x[0].int()), "MPS device does not support linear for non-float bias"),
        (lambda x: functional.linear(x, x.t()), r"linear\(\): input and weight.T shapes cannot be multiplied \(3x4 and 3x4\)"),
        (lambda x: functional.linear(x, x, x), "must match the existing size"),
        (lambda x: functional.linear(x.cpu(), x), "Tensor for argument input is on cpu but expected on mps"),
        (lambda x: functional.linear(x, x.cpu()), "Tensor for argument weight is on cpu but expected on mps"),
        (lambda x: functional.linear(x, x, x[0].cpu()), "Tensor for argument bias is on cpu but expected on mps"),
        (lambda x: functional.conv1d(x.int()[None], x.int()[:, :, None]), "Given groups=1"),
        (lambda x: functional.conv1d(x.int()[None], x.int()[None]), "Convolution is supported only for Floating types"),
        (lambda x: functional.conv1d(x[None], x[None].half()), "Input type .MPSFloatType. and weight type .MPSHalfType. should be"),
        (lambda x: functional.conv1d(x[None], x[None].cpu()), "Input type .MPSFloatType. and weight type .torch.FloatTensor. sho"),
        (lambda x: functional.conv1d(x[None], x[None], x[0, :1].half()), "and bias type .c10::Half. should be the same"),
        (lambda x: torch.linalg.inv(torch.zeros(3, 3, device="mps")), "singular"),
    ],
)
def test_refused(call, text):
    x = a()
    with pytest.raises(RuntimeError, match=text):
        call(x)
    assert torch.equal(x.cpu(), b())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: functional.embedding(indices(7), x),
        lambda x: x[indices(7)],
        lambda x: x.gather(0, torch.full((1, 4), 9, device="mps")),
        lambda x: x.index_select(0, indices(9)),
        lambda x: x.scatter_(0, torch.full((1, 4), 9, device="mps"), 1.0),
        lambda x: x.index_put_((indices(7),), torch.tensor(1.0, device="mps")),
        lambda x: functional.cross_entropy(x, indices(9, 0, 0)),
    ],
)
def test_index_out_of_range(call):
    x = a()
    with pytest.raises(RuntimeError, match="out of bounds"):
        call(x)
        torch.mps.synchronize()
    assert torch.equal(x.cpu(), b()), "nothing is written"
    assert x.sum().item() == 66, "the device goes on"


@pytest.mark.parametrize("name", ["normal_", "log_normal_", "exponential_", "cauchy_", "uniform_"])
@pytest.mark.parametrize("dtype", [torch.int32, torch.bool])
def test_continuous_numbers_in_integers_are_refused_where_the_cpu_refuses_them(name, dtype):
    with pytest.raises((NotImplementedError, RuntimeError)):
        getattr(torch.empty(4, dtype=dtype), name)()
    with pytest.raises((NotImplementedError, RuntimeError, TypeError), match=f"not implemented for '{WORDS[dtype]}'|floating point"):
        getattr(torch.empty(4, dtype=dtype, device="mps"), name)()


WORDS = {torch.int32: "Int", torch.bool: "Bool"}


def test_integers_that_a_type_does_not_have_are_refused_as_on_the_cpu():
    for device in ("cpu", "mps"):
        with pytest.raises(RuntimeError, match="to - 1 is out of bounds for bool"):
            torch.randint(0, 100, (4,), dtype=torch.bool, device=device)


def test_members_of_another_type_are_those_of_the_cpu():
    elements, members = torch.tensor([1, 2, 3]), torch.tensor([2.0, 3.5])
    assert torch.equal(torch.isin(elements.to("mps"), members.to("mps")).cpu(), torch.isin(elements, members))
