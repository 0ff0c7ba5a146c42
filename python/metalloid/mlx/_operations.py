"""Operations that MLX has on a Mac's GPU for more element types than on its CPU back end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Products for float32 only on the CPU: a half or bfloat16 one is computed in float32 and rounded, as a GPU does.
_float32_only = ("gather_mm", "block_masked_mm")


def install_operations(mx: Any) -> None:
    for name in _float32_only:
        if hasattr(mx, name):
            setattr(mx, name, _through_float32(mx, getattr(mx, name)))


def _through_float32(mx: Any, operation: Callable[..., Any]) -> Callable[..., Any]:
    narrow = (mx.float16, mx.bfloat16)

    def product(a: Any, b: Any, /, *arguments: Any, **options: Any) -> Any:
        types = [getattr(value, "dtype", None) for value in (a, b)]
        if not any(dtype in narrow for dtype in types):
            return operation(a, b, *arguments, **options)
        stream = options.get("stream")
        wide = [value.astype(mx.float32, stream=stream) if dtype in narrow else value for value, dtype in zip((a, b), types)]
        result = operation(*wide, *arguments, **options)
        return result.astype(mx.result_type(a, b), stream=stream)

    product.__name__ = product.__qualname__ = operation.__name__
    product.__doc__ = operation.__doc__
    return product
