"""metal_kernel: what makes the kernels of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _device
from .._arguments.numbers import flag, text
from ._by_name import MetalKernelByName
from ._kernel import MetalKernel

_math_modes = ("safe", "relaxed", "fast")


def metal_kernel(
    name: str,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    source: str | None = None,
    header: str = "",
    ensure_row_contiguous: bool = True,
    atomic_outputs: bool = False,
    compile_options: Mapping[str, str] | None = None,
    *,
    device: str | None = None,
) -> Any:
    """A kernel from the body of a Metal function; the signature is generated at each call, from its arrays.

    With ``input_names`` and ``output_names`` the result is a :class:`MetalKernel`. Without both it is a
    :class:`MetalKernelByName`, which takes the names from the dictionaries that it is called with, as MLX's first
    interface did.

    Args:
        name: part of the generated function's name.
        input_names: parameters for the inputs, in order.
        output_names: parameters for the outputs, in order.
        source: the function's body. For an input ``x`` it may use ``x_shape``, ``x_strides`` and ``x_ndim``, and any
            of Metal's attributes by name, such as ``thread_position_in_grid``.
        header: source before the function.
        ensure_row_contiguous: copy inputs that are not row contiguous before the kernel sees them.
        atomic_outputs: outputs are ``device atomic<T>*``.
        compile_options: ``{"math_mode": "safe" | "relaxed" | "fast"}``; default ``"safe"``.
        device: one of the names that ``metalloid.devices()`` lists; default: whatever
            ``metalloid.default_device()`` is when the kernel is called.

    Raises:
        ValueError: no outputs, unknown compile options, or no such device.
        TypeError: no source, names of one kind only, or an argument of another type.
    """
    if isinstance(input_names, str) and source is None and not isinstance(output_names, (list, tuple)):
        # MLX's first interface: name, source, header.
        input_names, output_names, source, header = None, None, input_names, header or output_names or ""
    if source is None or (input_names is None) != (output_names is None):
        missing = [
            what
            for what, value in (("source", source), ("input_names", input_names), ("output_names", output_names))
            if value is None
        ]
        raise TypeError(
            f"metal_kernel() needs {' and '.join(missing)}. With input_names=[...] and output_names=[...] the kernel is "
            "called with lists; without both, with dictionaries."
        )
    for what, names in (("input_names", input_names), ("output_names", output_names)):
        if names is None:
            continue
        if not isinstance(names, (list, tuple)) or not all(isinstance(item, str) for item in names):
            raise TypeError(f"metal_kernel(): {what} must be a list of str, not {names!r}")
        for item in names:
            item.encode()  # UnicodeEncodeError for halves of surrogate pairs
    for what, value in (("name", name), ("source", source), ("header", header)):
        text(f"metal_kernel(): {what}", value)
    math_mode = _math_mode(compile_options)
    if device is not None:
        text("metal_kernel(): device", device)
        _device.check_device(device)

    def declare(
        input_names: Sequence[str], output_names: Sequence[str], ensure_row_contiguous: bool, atomic_outputs: bool
    ) -> MetalKernel:
        return MetalKernel(
            name, input_names, output_names, source, header,
            flag("metal_kernel(): ensure_row_contiguous", ensure_row_contiguous),
            flag("metal_kernel(): atomic_outputs", atomic_outputs), math_mode, device,
        )  # fmt: skip

    if input_names is None or output_names is None:
        declare([], ["out"], ensure_row_contiguous, atomic_outputs)  # what is wrong with the rest is said here
        return MetalKernelByName(
            name, declare, ensure_row_contiguous=ensure_row_contiguous, atomic_outputs=atomic_outputs
        )
    return declare(input_names, output_names, ensure_row_contiguous, atomic_outputs)


def _math_mode(options: Any) -> str:
    mode = "safe"
    if options is None:
        return mode
    if not isinstance(options, dict):
        raise ValueError("[metal_kernel] Expected `compile_options` to be a dict.")
    for key, value in options.items():
        if key != "math_mode":
            raise ValueError(f"[metal_kernel] Unknown compile option `{key}`.")
        if value not in _math_modes:
            raise ValueError("[metal_kernel] Expected math_mode to be 'safe', 'relaxed', or 'fast'.")
        mode = value
    return mode
