"""PyTorch's CPU operators and Metal kernels for the same work: those of examples/, and of this folder."""

import pathlib
from collections.abc import Callable

import numpy
from case import Case
from measuring import filled, pages

F, U = numpy.float32, numpy.uint32
here = pathlib.Path(__file__).resolve().parent
examples = here.parent.parent / "examples" / "kernels"

ROWS, COLUMNS = 2048, 2048
ELEMENTS = 1 << 24
HEADS, LENGTH, SIZE = 8, 1024, 128  # of attention
EPSILON = 1e-5


def _normal(seed: int, *shape: int) -> numpy.ndarray:
    return filled(numpy.random.default_rng(seed).standard_normal(shape, F))


def rms_norm() -> Case:
    arguments = [pages((ROWS, COLUMNS), F), _normal(1, ROWS, COLUMNS), _normal(2, COLUMNS), U(COLUMNS), F(EPSILON)]
    return Case(examples / "rms_norm.metal", "rms_norm", arguments, (ROWS * 256,), (256,))


def torch_rms_norm(torch, out, x, weight, *_):
    return lambda: torch.nn.functional.rms_norm(x, (COLUMNS,), weight, EPSILON)  # has no form with out=


def layer_norm() -> Case:
    weight, bias = _normal(2, COLUMNS), _normal(3, COLUMNS)
    arguments = [pages((ROWS, COLUMNS), F), _normal(1, ROWS, COLUMNS), weight, bias, U(COLUMNS), F(EPSILON)]
    return Case(examples / "layer_norm.metal", "layer_norm_float", arguments, (ROWS * 256,), (256,))


def torch_layer_norm(torch, out, x, weight, bias, *_):
    mean, deviation = torch.empty(ROWS, 1), torch.empty(ROWS, 1)
    run = torch.ops.aten.native_layer_norm.out
    return lambda: run(x, [COLUMNS], weight, bias, EPSILON, out0=out, out1=mean, out2=deviation)[0]


def softmax() -> Case:
    # With a simdgroup for a row, as a barrier for each of a threadgroup's simdgroups is more than its part of 2048 columns.
    arguments = [pages((ROWS, COLUMNS), F), _normal(1, ROWS, COLUMNS), U(COLUMNS), U(ROWS)]
    return Case(examples / "softmax.metal", "softmax_one_simdgroup_float", arguments, (ROWS * 32,), (256,))


def torch_softmax(torch, out, x, *_):
    return lambda: torch.ops.aten._softmax.out(x, -1, False, out=out)


def silu() -> Case:
    arguments = [pages(ELEMENTS, F), _normal(1, ELEMENTS), U(ELEMENTS)]
    return Case(examples / "activations.metal", "silu_float", arguments, (ELEMENTS,), (256,))


def torch_silu(torch, out, x, *_):
    return lambda: torch.ops.aten.silu.out(x, out=out)


def gelu() -> Case:
    arguments = [pages(ELEMENTS, F), _normal(1, ELEMENTS)]
    return Case(examples / "activations.metal", "gelu_float", arguments, (ELEMENTS // 4,), (256,))


def torch_gelu(torch, out, x):
    return lambda: torch.ops.aten.gelu.out(x, approximate="tanh", out=out)


def rope() -> Case:
    x = _normal(1, 4 * HEADS, LENGTH, SIZE)
    angle = numpy.arange(LENGTH)[:, None] * 10000.0 ** (-numpy.arange(SIZE // 2) / (SIZE // 2))
    turns = filled(numpy.stack([numpy.cos(angle), numpy.sin(angle)], -1).astype(F))
    arguments = [pages(x.shape, F), x, turns, U(LENGTH * SIZE // 2)]
    return Case(here / "rope.metal", "rope", arguments, (x.size // 2,), (256,))


def torch_rope(torch, out, x, turns, _):
    pairs, turn, result = (torch.view_as_complex(each.unflatten(-1, (-1, 2))) for each in (x, turns.flatten(-2), out))

    def run():
        torch.mul(pairs, turn, out=result)
        return out

    return run


def causal_attention() -> Case:
    shape = (HEADS, LENGTH, SIZE)
    arguments = [pages(shape, F), _normal(1, *shape), _normal(2, *shape), _normal(3, *shape), U(LENGTH)]
    grid, group = (LENGTH // 64 * 128, HEADS), (128, 1)
    return Case(here / "attention.metal", "causal_attention", arguments, grid, group, tolerance=1e-3)


def torch_causal_attention(torch, out, q, k, v, _):
    q, k, v = (each.unsqueeze(0) for each in (q, k, v))
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)  # has no form with out=


CASES: dict[str, tuple[Callable[[], Case], Callable]] = {
    "rms_norm": (rms_norm, torch_rms_norm),
    "layer_norm": (layer_norm, torch_layer_norm),
    "softmax": (softmax, torch_softmax),
    "silu": (silu, torch_silu),
    "gelu": (gelu, torch_gelu),
    "rope": (rope, torch_rope),
    "causal_attention": (causal_attention, torch_causal_attention),
}


def make_case(name: str) -> Case:
    return CASES[name][0]()


class TorchOperators:
    engine = first_engine = None

    def __init__(self) -> None:
        import torch

        self._torch = torch
        torch.set_grad_enabled(False)
        self.description = f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads"

    def prepare(self, name: str) -> Callable[[], None]:
        torch = self._torch
        make, make_torch = CASES[name]
        arguments = [torch.from_numpy(each) if isinstance(each, numpy.ndarray) else each for each in make().arguments]
        operator = make_torch(torch, *arguments)

        def run() -> None:
            self._result = operator()

        return run

    def results(self) -> list[numpy.ndarray]:
        return [self._result.numpy()]
