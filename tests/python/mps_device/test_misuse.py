"""What PyTorch reports of calls on "mps" that cannot be done: an error in words, and nothing is written."""

import pytest

torch = pytest.importorskip("torch")

from metalloid.mps import install_on_import  # noqa: E402

functional = torch.nn.functional
TWO_DEVICES = "at least two devices|Passed CPU tensor to MPS op|Expected out tensor to have device|should be the same"


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
