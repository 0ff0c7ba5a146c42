"""Attention in half on an NVIDIA GPU: the kernels of attention.metal and PyTorch's flash attention, by turns in one run,
results checked first.

    python bench/cuda/attention.py [KERNEL...]

Needs PyTorch and CuPy with CUDA, and Metalloid's Python package.
"""

import pathlib
import re
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

import metalloid

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))

from compare import rates_by_turns  # noqa: E402

ROUNDS, CALLS = 5, 2
SHAPES = ((64, 4096), (16, 16384))  # heads, length
ROWS = 16  # of a simdgroup


def main() -> None:
    source = (here / "attention.metal").read_text()
    library = metalloid.compile_shader(source, device="cuda", math_mode="fast")
    kernels = re.findall(r'^ATTENTION\("attention_(\d+)_(\d+)_(\d+)"', source, re.M)
    print(
        f"{torch.cuda.get_device_name()}\n\n| kernel | heads | TFLOP/s | PyTorch | of it |\n| --- | --- | --- | --- | --- |"
    )
    for size, keys, simdgroups in kernels:
        name = f"attention_{size}_{keys}_{simdgroups}"
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        kernel = library.get_kernel(name)
        threads = 32 * int(simdgroups)
        for (heads, length), causal in ((shape, causal) for shape in SHAPES for causal in (False, True)):
            generator = torch.Generator("cuda").manual_seed(1)
            shape = 1, heads, length, int(size)
            q, k, v = (torch.randn(shape, generator=generator, device="cuda").half() for _ in range(3))
            out, scale = torch.empty_like(q), int(size) ** -0.5
            grid = threads * length // (ROWS * int(simdgroups)), heads

            def ours() -> None:
                kernel(out, q, k, v, length, int(causal), scale, threads=grid, group_size=(threads, 1))

            def theirs() -> torch.Tensor:
                with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                    return scaled_dot_product_attention(q, k, v, is_causal=causal)

            ours()
            wrong = (out - theirs()).abs().max().item()
            assert wrong < 0.01, f"{name}: {wrong}"
            operations = 4 * heads * length**2 * int(size) / (2 if causal else 1) * 1e-12
            rates = rates_by_turns((ours, theirs), operations, CALLS, ROUNDS)
            label = f"`{name}`{', causal' * causal} | {heads} of {length:,}"
            print(f"| {label} | {rates[0]:.0f} | {rates[1]:.0f} | {rates[0] / rates[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
