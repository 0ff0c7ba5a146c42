"""LSTMs of whole sequences on "mps", against the CPU's."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opinfo_first  # noqa: E402, F401

TOLERANCE = {torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 3e-2}


def made_twice(size, width, layers, dtype=torch.float32, **options):
    torch.manual_seed(0)
    model = torch.nn.LSTM(size, width, layers, dtype=dtype, **options)
    twin = torch.nn.LSTM(size, width, layers, dtype=dtype, **options).to("mps")
    twin.load_state_dict(model.state_dict())
    return model, twin


def assert_close(found, expected, tolerance):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    scale = expected.abs().max().item() or 1.0
    torch.testing.assert_close(found.cpu().float(), expected.float(), atol=tolerance * scale, rtol=tolerance)


def uses_operator(work):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        work()
    return any(event.key == "aten::_lstm_mps" for event in profile.key_averages())


SHAPES = {  # steps, batch, size, width, layers
    "one": (1, 1, 3, 1, 1),
    "odd": (5, 3, 7, 33, 2),
    "rows": (4, 9, 5, 64, 2),
    "wide": (3, 5, 5, 1100, 1),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "batch_first": True}, {"bias": False}], ids=str)
def test_results_and_derivatives(device, shape, options):
    steps, batch, size, width, layers = shape
    directions = 2 if options.get("bidirectional") else 1
    results = []
    for model in made_twice(size, width, layers, **options):
        where = next(model.parameters()).device
        torch.manual_seed(1)
        x = torch.randn(*((batch, steps) if options.get("batch_first") else (steps, batch)), size)
        states = [torch.randn(layers * directions, batch, width) for _ in range(2)]
        inputs = [one.to(where).requires_grad_() for one in [x, *states]]
        output, (hidden, cell) = model(inputs[0], tuple(inputs[1:]))
        (output.square().sum() + hidden.sin().sum() + cell.square().sum()).backward()
        with torch.no_grad():
            plain, _ = model(inputs[0], tuple(inputs[1:]))
        gradients = [one.grad for one in [*inputs, *model.parameters()]]
        results.append([output.detach(), hidden.detach(), cell.detach(), plain, *gradients])
    for expected, found in zip(*results, strict=True):
        assert_close(found, expected, TOLERANCE[torch.float32])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_small_types(device, dtype):
    model, twin = made_twice(5, 48, 2, dtype)
    x = torch.randn(6, 4, 5).to(dtype)
    for one, source in ((model, x), (twin, x.to("mps"))):
        one(source)[0].float().square().sum().backward()
    assert_close(twin(x.to("mps"))[0].detach(), model(x)[0].detach(), TOLERANCE[dtype])
    for found, expected in zip(twin.parameters(), model.parameters(), strict=True):
        assert_close(found.grad, expected.grad, TOLERANCE[dtype])


def test_extreme_numbers(device):
    model, twin = made_twice(3, 40, 1)
    x = torch.randn(4, 3, 3)
    x[0, 0, 0], x[1, 1, 1], x[2, 2, 2] = float("inf"), float("nan"), -1e30
    with torch.no_grad():
        torch.testing.assert_close(twin(x.to("mps"))[0].cpu(), model(x)[0], equal_nan=True)


def test_derivatives_of_derivatives(device):
    results = []
    for model in made_twice(3, 4, 2, bidirectional=True):
        x = torch.linspace(-1, 1, 24).view(4, 2, 3).to(next(model.parameters()).device).requires_grad_()
        output, (_, cell) = model(x)
        gradients = torch.autograd.grad(output.square().sum() + cell.sum(), [x, *model.parameters()], create_graph=True)
        sum(one.square().sum() for one in gradients).backward()
        results.append([x.grad, *(one.grad for one in model.parameters())])
    for expected, found in zip(*results, strict=True):
        assert_close(found, expected, 1e-4)


def test_what_stays_composed(device):
    x = torch.randn(4, 2, 3, device="mps")
    plain = torch.nn.LSTM(3, 4, device="mps")
    projected = torch.nn.LSTM(3, 4, proj_size=2, device="mps")
    dropping = torch.nn.LSTM(3, 4, 2, dropout=0.5, device="mps")
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, [4, 2])
    assert uses_operator(lambda: plain(x))
    assert not uses_operator(lambda: projected(x))
    assert not uses_operator(lambda: dropping(x))
    assert uses_operator(lambda: dropping.eval()(x))
    assert not uses_operator(lambda: plain(packed))
    with torch.autocast("mps", torch.float16):
        assert not uses_operator(lambda: plain(x))
    with pytest.raises(RuntimeError, match="input.size"):
        plain(torch.randn(4, 2, 5, device="mps"))
