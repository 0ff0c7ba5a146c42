"""A kernel inside a model: every nn.RMSNorm of a network replaced by one that calls a Metal kernel, and trained.

A PyTorch script as one writes it for a Mac; elsewhere

    python -m metalloid.mps examples/python/model_mps.py

Autograd does not see into a kernel, so a torch.autograd.Function tells it the derivative. With r = 1 / sqrt(mean(x^2) +
epsilon) and g = gradient * weight, the gradient of x is r g - r^3 x mean(g x), and that of the weight is the sum over
the rows of gradient * r x. They are written with torch's operators here; kernels could compute them as well.

The table compares outputs, gradients and a few steps of training with the same network in double precision on the CPU,
which knows nothing of the kernel. Only replaced modules differ: weights are shared, and epsilon stays the one that the
module had. (nn.RMSNorm without an epsilon uses the smallest step of the element type at 1. Another value would show.)
"""

import copy
import sys

import torch
from common import Report, kernel_source, rounding

lib = torch.mps.compile_shader(kernel_source("rms_norm.metal"))


class RMSNormFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
        x, weight = x.contiguous(), weight.contiguous()  # the kernel counts on rows one after the other
        columns = x.shape[-1]
        rows, group_size = x.numel() // columns, 128
        out = torch.empty_like(x)
        lib.rms_norm(out, x, weight, columns, epsilon, threads=rows * group_size, group_size=group_size)
        ctx.save_for_backward(x, weight)
        ctx.epsilon = epsilon
        return out

    @staticmethod
    def backward(ctx, gradient: torch.Tensor):
        x, weight = ctx.saved_tensors
        r = torch.rsqrt((x * x).mean(-1, keepdim=True) + ctx.epsilon)
        g = gradient * weight
        of_x = r * g - r**3 * x * (g * x).mean(-1, keepdim=True)
        of_weight = (gradient * r * x).reshape(-1, x.shape[-1]).sum(0)
        return of_x, of_weight, None


class KernelRMSNorm(torch.nn.Module):
    """Takes the place of an nn.RMSNorm over the last dimension, with its weight and epsilon."""

    def __init__(self, original: torch.nn.RMSNorm) -> None:
        super().__init__()
        if len(original.normalized_shape) != 1 or original.weight is None or original.weight.dtype != torch.float32:
            raise ValueError(f"the kernel normalises over one dimension, with a weight, in float32: {original}")
        self.weight = original.weight
        self.epsilon = torch.finfo(torch.float32).eps if original.eps is None else original.eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return RMSNormFunction.apply(x, self.weight, self.epsilon)


def use_kernels(module: torch.nn.Module) -> int:
    """Replaces every nn.RMSNorm below `module`. Returns how many there were."""
    count = 0
    for name, child in module.named_children():
        if isinstance(child, torch.nn.RMSNorm):
            setattr(module, name, KernelRMSNorm(child))
            count += 1
        else:
            count += use_kernels(child)
    return count


class Block(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = torch.nn.RMSNorm(size, eps=1e-5)
        self.up, self.down = torch.nn.Linear(size, 2 * size), torch.nn.Linear(2 * size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.nn.functional.silu(self.up(self.norm(x))))


def train(model: torch.nn.Module, x: torch.Tensor, target: torch.Tensor, steps: int) -> list[float]:
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def main() -> int:
    torch.manual_seed(11)
    size = 65
    reference = torch.nn.Sequential(Block(size), Block(size), torch.nn.RMSNorm(size), torch.nn.Linear(size, 3))
    model = copy.deepcopy(reference).to("mps")
    replaced = use_kernels(model)
    reference = reference.double()

    report = Report(f"a model with {replaced} modules replaced by a kernel")
    tolerance = 64 * rounding["float32"]  # some layers of sums in float
    for shape in ((1, size), (2, 33, size)):
        x = torch.randn(shape)
        expected = reference(x.double())
        got = model(x.to("mps"))
        report.check("output", shape, got.detach().cpu().numpy(), expected.detach().numpy(), tolerance)

    x, target = torch.randn(2, 33, size), torch.randn(2, 33, 3)
    torch.nn.functional.mse_loss(reference(x.double()), target.double()).backward()
    torch.nn.functional.mse_loss(model(x.to("mps")), target.to("mps")).backward()
    exact = dict(reference.named_parameters())
    for name, parameter in model.named_parameters():
        if "weight" in name:
            expected = exact[name].grad.numpy()
            report.check(f"gradient of {name}", parameter.shape, parameter.grad.cpu().numpy(), expected, tolerance)

    steps = 5
    expected = train(reference, x.double(), target.double(), steps)
    losses = train(model, x.to("mps"), target.to("mps"), steps)
    report.check("loss while training", (steps,), losses, expected, tolerance)
    report.check("loss goes down", (steps,), float(losses[-1] >= losses[0]), 0, 0)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
