"""MetalKernel.tune: the threadgroup size of a metal_kernel, by measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._tune import TuneResult, tuning_options
from ._call import dtype_names, extents_of, initial_value, shapes_of, template_of

Extents = Sequence[int]


class MetalKernelTuning(TuneResult):
    """What ``MetalKernel.tune`` found; sizes have three dimensions."""

    @property
    def launch(self) -> dict[str, Any]:
        """``grid`` and ``threadgroup`` for the kernel's call: ``kernel(inputs=..., **result.launch)``."""
        launch = super().launch
        return {"grid": launch["threads"], "threadgroup": launch["group_size"]}


class Tunable:
    """The part of MetalKernel that tunes."""

    _kernel: Any
    _input_names: list[str]
    _output_names: list[str]

    @property
    def device(self) -> str:
        raise NotImplementedError

    def _lists(self, inputs: Any, output_shapes: Any, output_dtypes: Any) -> Any:
        raise NotImplementedError

    def tune(
        self,
        *,
        inputs: Sequence[Any] | Mapping[str, Any],
        output_shapes: Sequence[Sequence[int]] | Mapping[str, Sequence[int]],
        output_dtypes: Sequence[Any] | Mapping[str, Any],
        grid: Extents | None = None,
        threadgroups: Extents | None = None,
        threadgroup: Extents | None = None,
        candidates: Sequence[Extents] = (),
        template: Sequence[tuple[str, Any]] | Mapping[str, Any] | None = None,
        init_value: float | None = None,
        margin: float = 0.1,
        seconds: float = 1.0,
        rounds: int | None = None,
        compare: bool = True,
        tolerance: float | None = None,
        force: bool = False,
    ) -> MetalKernelTuning:
        """Runs the kernel with several threadgroup sizes and returns the best; the next call answers from the cache.

        >>> call = dict(inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype])
        >>> result = kernel.tune(**call, grid=(x.size, 1, 1))             # a thread per element
        >>> result = kernel.tune(**call, threadgroups=(x.shape[0], 1, 1))  # a threadgroup per row
        >>> y, = kernel(**call, **result.launch)
        >>> print(result)  # what was tried

        Everything that :func:`metalloid.tune` says holds here.

        Args:
            inputs, output_shapes, output_dtypes, template, init_value: as in the kernel's call.
            grid: the grid in threads, whatever the threadgroup.
            threadgroups: the grid in threadgroups instead.
            threadgroup: the one that you use now: the one to beat, and the one whose results are right.
            candidates: what to try.
            margin, seconds, rounds, compare, tolerance, force: as for :func:`metalloid.tune`.

        Raises:
            ValueError: a wrong call, or results that depend on the threadgroup without one that is right.
            RuntimeError: no size runs, with the reasons; the source does not compile.
        """
        if (grid is None) == (threadgroups is None):
            raise ValueError("[metal_kernel] Give `grid` or `threadgroups`, not both.")
        values, shapes, dtypes = self._lists(inputs, output_shapes, output_dtypes)
        extents = extents_of("grid", grid) if grid is not None else extents_of("threadgroups", threadgroups)  # type: ignore[arg-type]
        if not isinstance(candidates, (list, tuple)):
            raise TypeError(f"metal_kernel: candidates must be a list of threadgroups, not {candidates!r}")
        options = tuning_options(
            [extents_of("candidates", candidate) for candidate in candidates], margin, seconds, rounds, compare,
            tolerance, force, {},
        )  # fmt: skip
        sizes = {"grid" if grid is not None else "threadgroups": extents}
        if threadgroup is not None:
            sizes["threadgroup"] = extents_of("threadgroup", threadgroup)
        for what, size in (*sizes.items(), *(("candidates", extents_of("candidates", each)) for each in candidates)):
            if min(size) <= 0:
                raise ValueError(f"[metal_kernel] `{what}` must be above 0, not {size}")
        default = sizes.get("threadgroup", (0, 0, 0))
        result = self._kernel.tune(
            list(values), shapes_of(shapes), dtype_names(dtypes), extents,
            grid is not None, default, template_of(template), initial_value(init_value), self.device, options,
        )  # fmt: skip
        return MetalKernelTuning(result, list(extents), grid is not None, 3)
