"""metal_kernel with dictionaries: MLX's first interface (0.16 to 0.18), in which names come with the arrays of a call.

>>> kernel = metal_kernel(name="twice", source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];")
>>> kernel(inputs={"x": x}, output_shapes={"y": x.shape}, output_dtypes={"y": x.dtype}, grid=..., threadgroup=...)["y"]
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._arguments.numbers import flag
from ._call import are_dictionaries, directions, names_of

if TYPE_CHECKING:
    from ._kernel import MetalKernel
    from ._tune import MetalKernelTuning

_no_shapes = object()  # a source does not depend on them


class MetalKernelByName:
    """A kernel whose arrays get their names from the dictionaries of each call. Made by :func:`metal_kernel`."""

    def __init__(self, name: str, declare: Callable[..., MetalKernel], **flags: bool) -> None:
        self._name = name
        self._declare = declare  # of input names, output names and flags
        self._flags = flags
        self._kernels: dict[Any, MetalKernel] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<metalloid metal_kernel {self._name}, arrays named by its calls>"

    def _kernel_for(
        self, inputs: Any, output_shapes: Any, output_dtypes: Any, **flags: bool | None
    ) -> MetalKernel:
        arrays = dict(inputs=inputs, output_dtypes=output_dtypes)
        if output_shapes is not _no_shapes:
            arrays["output_shapes"] = output_shapes
        if not are_dictionaries(**arrays):
            raise TypeError(f"metal_kernel {self._name!r} was made without input_names and output_names. {directions}")
        chosen = self._flags | {what: flag(what, value) for what, value in flags.items() if value is not None}
        names = names_of("inputs", inputs), names_of("output_dtypes", output_dtypes)
        key = (*names, *sorted(chosen.items()))
        with self._lock:
            if key not in self._kernels:
                self._kernels[key] = self._declare(*names, **chosen)
            return self._kernels[key]

    def __call__(
        self,
        *,
        inputs: Mapping[str, Any],
        output_shapes: Mapping[str, Sequence[int]],
        output_dtypes: Mapping[str, Any],
        ensure_row_contiguous: bool | None = None,
        atomic_outputs: bool | None = None,
        **launch: Any,
    ) -> dict[str, Any]:
        """Runs the kernel and returns its outputs by name.

        Args:
            inputs, output_shapes, output_dtypes: by the names that the source uses.
            ensure_row_contiguous, atomic_outputs: for this call; default: what ``metal_kernel`` was told.
            launch: ``grid``, ``threadgroup``, ``template`` and all else that :meth:`MetalKernel.__call__` takes.

        Raises:
            As :meth:`MetalKernel.__call__`.
        """
        kernel = self._kernel_for(
            inputs, output_shapes, output_dtypes,
            ensure_row_contiguous=ensure_row_contiguous, atomic_outputs=atomic_outputs,
        )  # fmt: skip
        return kernel(inputs=inputs, output_shapes=output_shapes, output_dtypes=output_dtypes, **launch)

    def generated_source(
        self, *, inputs: Mapping[str, Any], output_dtypes: Mapping[str, Any], template: Any = None
    ) -> str:
        """The Metal source that such a call compiles."""
        kernel = self._kernel_for(inputs, _no_shapes, output_dtypes)
        return kernel.generated_source(inputs=inputs, output_dtypes=output_dtypes, template=template)

    def tune(
        self,
        *,
        inputs: Mapping[str, Any],
        output_shapes: Mapping[str, Sequence[int]],
        output_dtypes: Mapping[str, Any],
        **options: Any,
    ) -> MetalKernelTuning:
        """As :meth:`MetalKernel.tune`, with dictionaries."""
        kernel = self._kernel_for(inputs, output_shapes, output_dtypes)
        return kernel.tune(inputs=inputs, output_shapes=output_shapes, output_dtypes=output_dtypes, **options)
