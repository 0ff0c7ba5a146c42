"""Norms and rotary embeddings on an NVIDIA GPU: the kernels of examples/kernels and bench/torch_operators, 256 threads for
a row of 4,096 columns, and PyTorch's, by turns in one run: terabytes per second of what is read and written once.
Results are compared with PyTorch's first.

    python bench/cuda/norms.py [KERNEL...]

Needs PyTorch and CuPy with CUDA, and Metalloid's Python package.
"""

import pathlib
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

import metalloid

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))

from compare import rates_by_turns  # noqa: E402

ROUNDS = 7
CALLS = 4
COLUMNS, THREADS = 4096, 256
NAMES = {torch.float32: "float", torch.float16: "half", torch.bfloat16: "bfloat"}
EXAMPLES = here.parents[1] / "examples" / "kernels"


def library_of(file: pathlib.Path, changes: dict[str, str] | None = None) -> Any:
    source = file.read_text()
    for word, other in (changes or {}).items():
        source = source.replace(word, other)
    return metalloid.compile_shader(source, device="cuda", math_mode="fast", source_file=file)


def layer_norm(x: torch.Tensor, out: torch.Tensor) -> tuple[Callable[[], object], Callable[[], torch.Tensor]]:
    weight, bias = (torch.randn(COLUMNS, device="cuda").to(x.dtype) for _ in range(2))
    kernel = library_of(EXAMPLES / "layer_norm.metal").get_kernel(f"layer_norm_{NAMES[x.dtype]}")
    return lambda: kernel(
        out, x, weight, bias, COLUMNS, 1e-5, threads=len(x) * THREADS, group_size=THREADS
    ), lambda: F.layer_norm(x, (COLUMNS,), weight, bias)


def rms_norm(x: torch.Tensor, out: torch.Tensor) -> tuple[Callable[[], object], Callable[[], torch.Tensor]]:
    weight = torch.randn(COLUMNS, device="cuda").to(x.dtype)
    name = NAMES[x.dtype]  # the example is for floats
    changes = {
        "device float": f"device {name}",
        "device const float": f"device const {name}",
        "row_in[column] * row_in[column]": "float(row_in[column]) * float(row_in[column])",
        "row_in[column] * scale * weight[column]": f"{name}(float(row_in[column]) * scale * weight[column])",
    }
    kernel = library_of(EXAMPLES / "rms_norm.metal", changes).get_kernel("rms_norm")
    return lambda: kernel(
        out, x, weight, COLUMNS, 1e-5, threads=len(x) * THREADS, group_size=THREADS
    ), lambda: F.rms_norm(x, (COLUMNS,), weight, 1e-5)


def softmax(x: torch.Tensor, out: torch.Tensor) -> tuple[Callable[[], object], Callable[[], torch.Tensor]]:
    kernel = library_of(EXAMPLES / "softmax.metal").get_kernel(f"softmax_{NAMES[x.dtype]}")
    return lambda: kernel(out, x, COLUMNS, threads=len(x) * THREADS, group_size=THREADS), lambda: F.softmax(x, -1)


def rope(x: torch.Tensor, out: torch.Tensor) -> tuple[Callable[[], object], Callable[[], torch.Tensor]] | None:
    if x.dtype != torch.float32:
        return None
    angle = torch.rand(1 << 18, device="cuda") * 6
    turns = torch.stack([angle.cos(), angle.sin()], -1)
    kernel = library_of(here.parent / "torch_operators" / "rope.metal").get_kernel("rope")
    pairs = torch.view_as_complex(x.view(-1, len(turns), 2))
    result = torch.empty_like(x)

    def theirs() -> torch.Tensor:
        torch.mul(pairs, torch.view_as_complex(turns), out=torch.view_as_complex(result.view(-1, len(turns), 2)))
        return result

    return lambda: kernel(out, x, turns, len(turns), threads=x.numel() // 2, group_size=256), theirs


def main() -> None:
    print(
        f"{torch.cuda.get_device_name()}\n\n| kernel | rows | Metalloid | PyTorch | of it |\n| --- | --- | --- | --- | --- |"
    )
    for make in (layer_norm, rms_norm, softmax, rope):
        if sys.argv[1:] and make.__name__ not in sys.argv[1:]:
            continue
        for dtype, rows in ((dtype, rows) for dtype in NAMES for rows in (65536, 4096)):
            x = torch.randn(rows, COLUMNS, device="cuda").to(dtype)
            out = torch.empty_like(x)
            both = make(x, out)
            if both is None:
                continue
            both[0]()
            torch.testing.assert_close(out[:64], both[1]()[:64], rtol=0.02, atol=0.02)
            moved = 2 * x.numel() * x.element_size() * 1e-12
            ours, theirs = rates_by_turns(both, moved, CALLS, ROUNDS)
            label = f"`{make.__name__}`, {NAMES[dtype]}"
            print(f"| {label} | {rows:,} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
