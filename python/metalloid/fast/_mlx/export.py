"""What mx.export_function writes of a kernel: MLX's own operation, which Macs run."""

from __future__ import annotations

import weakref
from typing import Any

import mlx.core as mx

from .._call import Call

_mlx_metal_kernel = mx.fast.metal_kernel  # before anybody replaces it
_kernels_of_mlx: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def exported(call: Call) -> list[Any] | None:
    """The outputs of MLX's own kernel while mx.export_function traces. At any other time MLX refuses: None."""
    try:
        kernel = _kernels_of_mlx.get(call.kernel)
        if kernel is None:
            kernel = _kernels_of_mlx[call.kernel] = call.kernel.declared_to(_mlx_metal_kernel)
        return kernel(
            inputs=call.inputs, output_shapes=call.output_shapes,
            output_dtypes=[getattr(mx, "bool_" if name == "bool" else name) for name in call.output_dtypes],
            grid=call.grid, threadgroup=call.threadgroup, template=call.template, init_value=call.init_value,
        )  # fmt: skip
    except RuntimeError as refusal:
        if "No Metal back-end" not in str(refusal):
            raise
        return None
