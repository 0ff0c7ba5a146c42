"""LayerNorm as a Core AI kernel: a torch operator that runs Metal source and can be exported with a model.

`metalloid.TorchMetalKernel` takes the body of a Metal function and, as `torch_defn`, the same computation in torch. In
the body, inputs and results are tensors in the sense of Metal 4: `x[column, row]`, with the innermost dimension first,
so that `x.get_extent(0)` is the length of a row. `metal_params` are the thread attributes that the body uses.

With `verify=True` every call compares the kernel's result with `torch_defn`, which computes in double precision here
and rounds at the end. The operator traces through `torch.export`: the exported program calls the kernel, and so does
the program's module.

The arithmetic is in kernels/layer_norm.h, which explains why the variance takes a second pass; the body below hands it
the addresses of a row. The table's row with a large mean shows that it is needed; the line below the table says what
the variance in one pass would have been.
"""

import sys

import numpy as np
import torch
from common import Report, kernel_source, rounding
from metalloid import MetalParameter, TorchMetalKernel


def layer_norm_in_torch(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, epsilon: float
) -> torch.Tensor:
    exact = torch.nn.functional.layer_norm(x.double(), x.shape[-1:], weight.double(), bias.double(), epsilon)
    return exact.to(x.dtype)


kernel = TorchMetalKernel(
    name="layer_norm",
    input_names=["x", "weight", "bias", "epsilon"],
    result_names=["out"],
    src="""
        threadgroup float scratch[32];
        layer_norm_row(&out[0, row], &x[0, row], &weight[0], &bias[0], uint(x.get_extent(0)), epsilon, scratch,
                       thread_index, threads, lane, simdgroup, simdgroups);
    """,
    torch_defn=layer_norm_in_torch,
    metal_params=[
        MetalParameter("row", "uint", "threadgroup_position_in_grid"),
        MetalParameter("thread_index", "uint", "thread_index_in_threadgroup"),
        MetalParameter("threads", "uint", "threads_per_threadgroup"),
        MetalParameter("lane", "uint", "thread_index_in_simdgroup"),
        MetalParameter("simdgroup", "uint", "simdgroup_index_in_threadgroup"),
        MetalParameter("simdgroups", "uint", "simdgroups_per_threadgroup"),
    ],
    helper_src=kernel_source("layer_norm.h"),
    verify=True,
    atol=1e-5,
)


class LayerNorm(torch.nn.Module):
    """torch.nn.LayerNorm over the last of two dimensions, by the kernel."""

    def __init__(self, columns: int, epsilon: float = 1e-5, group_size: int = 256, dtype=torch.float32) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(columns, dtype=dtype) + 0.5, requires_grad=False)
        self.bias = torch.nn.Parameter(torch.randn(columns, dtype=dtype), requires_grad=False)
        self.epsilon, self.group_size = epsilon, group_size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = x.shape
        return kernel(
            x,
            self.weight,
            self.bias,
            self.epsilon,
            threads_per_grid=(rows * self.group_size, 1, 1),  # one threadgroup per row
            threads_per_thread_group=(self.group_size, 1, 1),
            result_shapes=[[rows, columns]],
        )


def reference(x: torch.Tensor, layer: LayerNorm) -> np.ndarray:
    values, weight, bias = (t.double().numpy() for t in (x, layer.weight, layer.bias))
    mean = values.mean(axis=-1, keepdims=True)
    variance = ((values - mean) ** 2).mean(axis=-1, keepdims=True)
    return (values - mean) / np.sqrt(variance + layer.epsilon) * weight + bias


def main() -> int:
    torch.manual_seed(4)
    report = Report("LayerNorm, verified against torch at each call, and here against NumPy", case_width=38)

    def check(case: str, x: torch.Tensor, layer: LayerNorm, got: torch.Tensor, tolerance: float) -> None:
        tolerance += rounding[str(x.dtype).removeprefix("torch.")]
        report.check(case, tuple(x.shape), got.double().numpy(), reference(x, layer), tolerance)

    tolerance = 16 * rounding["float32"]
    for rows, columns in ((1, 1), (3, 32), (4, 257), (2, 4096)):
        for group_size in (32, 65, 1024):
            layer = LayerNorm(columns, group_size=group_size)
            x = torch.randn(rows, columns)
            check(f"float, threadgroups of {group_size}", x, layer, layer(x), tolerance)
    for dtype in (torch.float16, torch.bfloat16):
        layer = LayerNorm(300, dtype=dtype)
        x = torch.randn(4, 300, dtype=dtype)
        check(str(dtype).removeprefix("torch."), x, layer, layer(x), tolerance)

    x = torch.randn(4, 1000) + 1e4
    layer = LayerNorm(1000)
    check("mean 10000, spread 1", x, layer, layer(x), tolerance)
    values = x.numpy()
    in_one_pass = (values * values).mean(axis=-1) - values.mean(axis=-1) ** 2
    exact = values.astype(np.float64).var(axis=-1)

    x = torch.randn(4, 257)
    layer = LayerNorm(257)
    exported = torch.export.export(layer, (x,))
    assert any("layer_norm" in str(node.target) for node in exported.graph.nodes if node.op == "call_function")
    check("exported with torch.export", x, layer, exported.module()(x), tolerance)
    exit_code = report.finish()
    print(f"For comparison, the variance in one pass of float, with that mean: wrong by up to "
          f"{np.abs(in_one_pass / exact - 1).max():.0%}")  # fmt: skip
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
