"""Operations that MLX has on a Mac's GPU and not, or for fewer element types, on its CPU back end."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from typing import Any

# Products for float32 only on the CPU: a half or bfloat16 one is computed in float32 and rounded, as a GPU does.
_float32_only = ("gather_mm", "block_masked_mm")


def install_operations(mx: Any) -> None:
    for name in _float32_only:
        if hasattr(mx, name):
            setattr(mx, name, _through_float32(mx, getattr(mx, name)))
    mx.import_function = _refusing_kernels(mx.import_function)


def _through_float32(mx: Any, operation: Callable[..., Any]) -> Callable[..., Any]:
    narrow = (mx.float16, mx.bfloat16)

    def product(a: Any, b: Any, /, *arguments: Any, **options: Any) -> Any:
        types = [getattr(value, "dtype", None) for value in (a, b)]
        if not any(dtype in narrow for dtype in types):
            return operation(a, b, *arguments, **options)
        stream = options.get("stream")
        wide = [
            value.astype(mx.float32, stream=stream) if dtype in narrow else value
            for value, dtype in zip((a, b), types, strict=True)
        ]
        result = operation(*wide, *arguments, **options)
        return result.astype(mx.result_type(a, b), stream=stream)

    product.__name__ = product.__qualname__ = operation.__name__
    product.__doc__ = operation.__doc__
    return product


def _refusing_kernels(import_function: Callable[[str], Any]) -> Callable[[str], Any]:
    """MLX makes the operations of a file itself, from a closed list, and its own kernels need its own GPU."""

    def checked(file: str) -> Any:
        if os.path.isfile(file) and os.path.getsize(file) > 0:
            with open(file, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
                if content.find(b"CustomKernel") >= 0:
                    raise RuntimeError(
                        f"[import_function] {file} has Metal kernels in it. MLX imports them as operations of a GPU, "
                        "which only a Mac has; here, call the Python function that was exported."
                    )
        return import_function(file)

    checked.__name__ = checked.__qualname__ = "import_function"
    checked.__doc__ = import_function.__doc__
    return checked
