"""Sparse tensors on "mps": the CPU's operators over the same indices and values."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")

import opinfo_first  # noqa: E402, F401
from torch.utils import _pytree  # noqa: E402

from metalloid.mps import _plugin  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse", "ignore:The operator", "ignore:torch.quantize")


@pytest.fixture(scope="module", autouse=True)
def mps():
    try:
        with warnings.catch_warnings():
            _plugin.device()
            _plugin.own_operators()
    except _plugin.CannotBuild as error:
        pytest.skip(str(error))


def drawn(device, *size, seed=2):
    return torch.rand(*size, generator=torch.Generator().manual_seed(seed)).to(device)


def sparse(device, *size):
    x = drawn("cpu", *(size or (4, 5)), seed=1)
    return x.where(x > 0.5, 0).to_sparse().to(device)


def repeated(device):
    return torch.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 2, 2]], [3.0, 4.0, 5.0, 6.0], (2, 3), device=device)


def hybrid(device):
    return torch.sparse_coo_tensor([[0, 1, 1, 0]], drawn("cpu", 4, 3), (2, 3), device=device)


def in_place(device):
    a, b, dense = sparse(device), repeated(device), drawn(device, 4, 5)
    values = b._values()
    values.add_(1)
    return a.add_(sparse(device)).mul_(3).neg_(), b, repeated(device).zero_(), dense.add_(a, alpha=-0.1)


def filled(device):
    out = torch.sparse_coo_tensor((4, 5), device=device)
    return torch.add(sparse(device), sparse(device), out=out), out


def copied(device):
    targets = [torch.sparse_coo_tensor((4, 5), device=device) for _ in range(2)]
    return [target.copy_(source) for target, source in zip(targets, (sparse("cpu"), sparse(device)), strict=True)]


def gradients(function, *inputs):
    inputs = [x.requires_grad_() for x in inputs]
    function(*inputs).pow(2).sum().backward()
    return [x.grad for x in inputs]


def made_of(device, get):
    indices = torch.tensor([[0, 1, 1], [2, 0, 2]], device=device)
    return gradients(lambda values: get(torch.sparse_coo_tensor(indices, values, (2, 3))), drawn(device, 3))


def trained(device, optimizer, **options):
    torch.manual_seed(0)
    module = torch.nn.Embedding(10, 4, sparse=True).to(device)
    step = optimizer(list(module.parameters()), lr=0.1, **options)
    for _ in range(3):
        step.zero_grad()
        module(torch.tensor([1, 2, 1, 7], device=device)).pow(2).sum().backward()
        step.step()
    return module.weight.grad, module.weight


def bag(device):
    torch.manual_seed(0)
    module = torch.nn.EmbeddingBag(10, 4, sparse=True, mode="sum").to(device)
    module(torch.tensor([1, 2, 1, 7], device=device), torch.tensor([0, 2], device=device)).pow(2).sum().backward()
    return module.weight.grad


def accumulated(device):
    weight = drawn(device, 10, 4).requires_grad_()
    where = torch.tensor([1, 2, 1], device=device)
    results = []
    for dense in (False, False, True):
        y = torch.nn.functional.embedding(where, weight, sparse=True).pow(2).sum()
        (y + weight.sum() if dense else y).backward()
        results.append(weight.grad.clone())
    return results, torch.nn.utils.clip_grad_norm_([weight], 1.0)


UNARY = ["abs", "sqrt", "tanh", "relu", "neg", "sign", "floor", "expm1", "square", "isnan", "deg2rad"]
CASES = {
    "coalesce": lambda d: (repeated(d).coalesce(), repeated(d).is_coalesced(), repeated(d).coalesce().is_coalesced()),
    "parts": lambda d: (repeated(d)._indices(), repeated(d)._values(), repeated(d)._nnz(), repeated(d).sparse_dim()),
    "coalesced parts": lambda d: (repeated(d).coalesce().indices(), repeated(d).coalesce().values()),
    "hybrid": lambda d: (hybrid(d), hybrid(d).coalesce(), hybrid(d).to_dense(), hybrid(d).dense_dim()),
    "to dense": lambda d: sparse(d).to_dense(),
    "to sparse": lambda d: (drawn(d, 3, 3).to_sparse(), drawn(d, 3, 3).to_sparse(1)),
    "moved": lambda d: (sparse(d).to(d), sparse("cpu").to(d), sparse(d).cpu().to(d)),
    "types": lambda d: [sparse(d).to(t) for t in (torch.half, torch.bfloat16, torch.int32, torch.bool, torch.complex64)],
    "empty": lambda d: (torch.sparse_coo_tensor((2, 3), device=d), torch.zeros(2, 3, layout=torch.sparse_coo, device=d)),
    "like": lambda d: (torch.zeros_like(sparse(d)), torch.empty_like(sparse(d)), sparse(d).clone(), sparse(d).detach()),
    "copied": copied,
    "resized": lambda d: repeated(d).sparse_resize_((4, 4), 2, 0),
    "views": lambda d: (sparse(d).t(), sparse(d).unsqueeze(0), sparse(d)[1], sparse(d).narrow_copy(0, 1, 2)),
    "indexed": lambda d: sparse(d).index_select(0, torch.tensor([0, 2], device=d)),
    "joined": lambda d: (torch.cat([sparse(d), sparse(d)]), torch.stack([sparse(d), sparse(d)])),
    "mask": lambda d: drawn(d, 4, 5).sparse_mask(sparse(d)),
    "matrix products": lambda d: (sparse(d) @ drawn(d, 5, 3), sparse(d) @ drawn(d, 5), sparse(d) @ sparse(d).t()),
    "batched product": lambda d: torch.bmm(torch.stack([sparse(d), sparse(d)]), drawn(d, 2, 5, 3)),
    "sparse.addmm": lambda d: torch.sparse.addmm(drawn(d, 4, 3), sparse(d), drawn(d, 5, 3), beta=0.5),
    "arithmetic": lambda d: (sparse(d) + sparse(d), sparse(d) - sparse(d), sparse(d) * sparse(d), sparse(d) / 2),
    "with dense": lambda d: (drawn(d, 4, 5) + sparse(d), sparse(d) * drawn(d, 4, 5)),
    "in place": in_place,
    "out": filled,
    "sums": lambda d: (sparse(d).sum(), torch.sparse.sum(sparse(d), 0), hybrid(d).sum(), repeated(d).sum().item()),
    "norm": lambda d: (sparse(d).norm(), sparse(d).any(), sparse(d).pow(2)),
    "softmax": lambda d: (torch.sparse.softmax(sparse(d), 1), torch.sparse.log_softmax(sparse(d), 0)),
    "unary": lambda d: [getattr(sparse(d), name)() for name in UNARY],
    "grad of mm": lambda d: gradients(torch.sparse.mm, sparse(d), drawn(d, 5, 3)),
    "grad of values": lambda d: made_of(d, lambda made: made.coalesce().values()),
    "grad of dense": lambda d: made_of(d, torch.Tensor.to_dense),
    "grad there and back": lambda d: gradients(lambda x: x.to_sparse().to_dense(), drawn(d, 3, 3)),
    "grad of softmax": lambda d: gradients(lambda x: torch.sparse.softmax(x, 1).to_dense(), sparse(d)),
    "grad of a bag": bag,
    "grads accumulated": accumulated,
    "SparseAdam": lambda d: trained(d, torch.optim.SparseAdam),
    "SGD": lambda d: trained(d, torch.optim.SGD, momentum=0.9),
    "Adagrad": lambda d: trained(d, torch.optim.Adagrad),
    "text": lambda d: str(repeated(d)).replace("device='mps:0', ", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_cpu(name):
    expected, results = (_pytree.tree_leaves(CASES[name](device)) for device in ("cpu", "mps"))
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        if not isinstance(wanted, torch.Tensor):
            assert result == wanted
            continue
        assert result.device.type == "mps" and result.layout == wanted.layout
        if wanted.layout == torch.sparse_coo:
            assert result.is_coalesced() == wanted.is_coalesced()
            assert result._indices().is_mps and result._values().is_mps
        torch.testing.assert_close(result.cpu(), wanted)


def test_values_and_indices_are_not_copied():
    indices, values = torch.tensor([[0, 1]], device="mps"), torch.ones(2, device="mps")
    made = torch.sparse_coo_tensor(indices, values, (3,))
    values.mul_(5)
    assert made._values().data_ptr() == values.data_ptr()
    assert made.to_dense().tolist() == [5, 5, 0]


WRONG = {
    "another device": (lambda: sparse("mps") @ drawn("cpu", 5, 3), RuntimeError, "at least two devices, mps:0 and cpu"),
    "parts of another device": (lambda: drawn("cpu", 4, 5).add_(sparse("mps")), RuntimeError, "at least two devices"),
    "float64": (lambda: sparse("mps").double(), TypeError, "doesn't support float64"),
    "shapes": (lambda: sparse("mps") + sparse("mps", 3, 3), RuntimeError, r"\[4, 5\] != \[3, 3\]"),
    "uncoalesced": (lambda: repeated("mps").indices(), RuntimeError, "uncoalesced"),
    "index out of range": (
        lambda: torch.sparse_coo_tensor([[5]], [1.0], (2,), device="mps", check_invariants=True), RuntimeError, "index 5",
    ),
    "no kernel": (lambda: torch.equal(sparse("mps"), sparse("mps")), NotImplementedError, "'aten::equal'.*sparse tensors"),
    "no structured kernel": (lambda: sparse("mps").softmax(0), NotImplementedError, "'aten::_softmax'.*sparse tensors"),
    "compressed": (lambda: torch.eye(3, device="mps").to_sparse_csr(), NotImplementedError, "SparseCsr is not supported"),
    "compressed, moved": (lambda: torch.eye(3).to_sparse_csr().to("mps"), RuntimeError, "from the 'mps:0' device"),
    "mkldnn": (lambda: torch.eye(3, device="mps").to_mkldnn(), NotImplementedError, "Mkldnn is not supported"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    attempt, error, text = WRONG[name]
    with pytest.raises(error, match=text):
        attempt()


def quantized(**where):
    return torch.quantize_per_tensor(torch.ones(4, **where), 0.1, 0, torch.quint8)


QUANTIZED = {
    "made": lambda: quantized(device="mps"),
    "moved": lambda: quantized().to("mps"),
    "per channel": lambda: torch.quantize_per_channel(
        torch.ones(2, 2, device="mps"), torch.ones(2, device="mps"), torch.zeros(2, device="mps"), 0, torch.qint8
    ),
    "empty": lambda: torch._empty_affine_quantized((3,), scale=1.0, zero_point=0, dtype=torch.quint8, device="mps"),
    "empty by type": lambda: torch.empty(3, dtype=torch.quint8, device="mps"),
}


@pytest.mark.parametrize("name", QUANTIZED)
def test_there_are_no_quantized_tensors(name):
    with pytest.raises(NotImplementedError, match="quantized"):
        QUANTIZED[name]()
