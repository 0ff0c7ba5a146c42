"""tune: picks a kernel's threadgroup size by measurement, and remembers it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _core
from ._arguments.element_types import names_by_library
from ._arguments.numbers import flag, integer, real
from ._arguments.tensors import is_tensor, memory_of
from ._shader import Kernel, _extents, _padded, memory_by_index, seconds_of

Extents = int | Sequence[int]


@dataclasses.dataclass(frozen=True)
class TuneTrial:
    """One threadgroup size and what became of it.

    Attributes:
        group_size: threads per threadgroup, an int or a tuple.
        outcome: ``"measured"``, ``"different results"`` or ``"failed"``.
        seconds: median time of a run; 0 if it failed.
        spread: half of the interquartile range, as a part of the median.
        runs: how many were timed.
        note: why it failed, or how its results differ.
    """

    group_size: Any
    outcome: str
    seconds: float
    spread: float
    runs: int
    note: str


class TuneResult:
    """What tuning found. ``str(result)`` is a table of what was tried and the choice with its reason."""

    def __init__(self, result: _core.TuneResult, grid: list[int], counts_threads: bool, rank: int) -> None:
        self._result = result
        self._grid = grid
        self._counts_threads = counts_threads
        self._rank = rank

    def _size(self, group: tuple[int, int, int]) -> Any:
        return group[0] if self._rank == 1 else group[: self._rank]

    @property
    def best(self) -> Any:
        """Threads per threadgroup: an int for a grid of one dimension, else a tuple."""
        return self._size(self._result.best)

    @property
    def launch(self) -> dict[str, Any]:
        """``threads`` and ``group_size`` for the kernel's call: ``kernel(*args, **result.launch)``."""
        threads = list(self._grid)
        if not self._counts_threads:
            threads = [groups * size for groups, size in zip(_padded(self._grid), self._result.best, strict=True)]
        return {"threads": tuple(threads[: self._rank]), "group_size": self._result.best[: self._rank]}

    @property
    def trials(self) -> list[TuneTrial]:
        """What was tried, in order."""
        return [
            TuneTrial(self._size(trial.group), trial.outcome, trial.seconds, trial.spread, trial.runs, trial.note)
            for trial in self._result.trials
        ]

    @property
    def from_cache(self) -> bool:
        """Whether the answer was known: nothing ran."""
        return self._result.from_cache

    @property
    def results_vary(self) -> bool:
        """Whether the kernel's results differ from run to run of one size; then sizes were not compared."""
        return self._result.results_vary

    @property
    def table(self) -> str:
        """What was tried, a line per size, and the choice with its reason."""
        return self._result.table

    def __str__(self) -> str:
        return self.table.rstrip("\n")

    def __repr__(self) -> str:
        return f"<metalloid tuning: {self._result.summary}>"


def tune(
    kernel: Kernel,
    *args: Any,
    threads: Extents | None = None,
    threadgroups: Extents | None = None,
    group_size: Extents | None = None,
    group_sizes: Sequence[Extents] | None = None,
    arg_casts: str | Mapping[int, str] | None = None,
    error_buf_idx: int | None = None,
    threadgroup_memory: Mapping[int, int] | None = None,
    threadgroup_memory_per_thread: Mapping[int, int] | None = None,
    margin: float = 0.1,
    seconds: float = 1.0,
    rounds: int | None = None,
    compare: bool = True,
    tolerance: float | None = None,
    force: bool = False,
    timeout: float | None = None,
) -> TuneResult:
    """Runs a kernel with several threadgroup sizes and returns the best; the next call answers from the cache.

    >>> result = metalloid.tune(lib.silu, x, out, n, threads=n)             # a thread per element
    >>> lib.silu(x, out, n, threads=n, group_size=result.best)
    >>> result = metalloid.tune(lib.rms_norm, x, out, d, threadgroups=rows)  # a threadgroup per row
    >>> lib.rms_norm(x, out, d, **result.launch)                            # threads=rows * best, group_size=best
    >>> print(result)                                                       # what was tried

    Runs work on copies: the arguments keep their contents, and every run starts from the same ones. Times are the
    engine's alone, without Python. A size that fails or whose results differ is shown and never chosen.

    The answer is kept in ``$METALLOID_CACHE_DIR`` for this device, kernel, shapes and element types, values of int
    arguments (which are sizes more often than not; those of floats do not count) and options.

    Args:
        kernel: a kernel of ``compile_shader``. Those of ``metalloid.fast.metal_kernel`` have a method ``tune``.
        args: as in the kernel's call.
        threads: the grid in threads, whatever the threadgroup size; default: the first array's number of elements.
        threadgroups: the grid in threadgroups instead: for kernels with a threadgroup per row.
        group_size: the size that you use now. It stays unless another one beats it by ``margin``, and its results are
            those that are right. Without it the first of ``group_sizes`` plays that part. Without both, an error is
            raised if results differ between sizes, since nothing says which are right.
        group_sizes: what to try; default: powers of two from 32 on, and blocks for two and three dimensions.
        arg_casts: as in the kernel's call.
        error_buf_idx: as in the kernel's call; messages of the runs are dropped.
        threadgroup_memory: bytes for each ``[[threadgroup(n)]]`` argument.
        threadgroup_memory_per_thread: bytes per thread for those whose length follows the threadgroup size.
        margin: 0.1 means that another size must take less than 1 / 1.1 of the time to replace ``group_size``.
        seconds: how long to measure after the first run of each size, about.
        rounds: measure each size so many times instead.
        compare: False chooses by time alone, for kernels whose results may differ.
        tolerance: how far results may differ, relative to the larger of the element and the array's root mean square;
            default 1e-4 for float, 1e-2 for half, 5e-2 for bfloat. Integers must be equal.
        force: measure even if the answer is cached.
        timeout: seconds after which a run is stopped.

    Raises:
        metalloid.Error: no size runs (with the reasons), or the results depend on the size and neither ``group_size``
            nor ``group_sizes`` is given.
        TypeError, ValueError, RuntimeError: as the kernel's call.
    """
    if not isinstance(kernel, Kernel):
        hint = "; a metal_kernel has a method tune()" if hasattr(kernel, "tune") else ""
        raise TypeError(f"tune() takes a kernel of metalloid.compile_shader, not {type(kernel).__name__}{hint}")
    if threads is not None and threadgroups is not None:
        raise ValueError("give threads or threadgroups, not both")
    bindings, elements = kernel._bind(args, arg_casts, error_buf_idx)
    if threads is None and threadgroups is None:
        if elements is None:
            raise RuntimeError("Number of threads is undefined or has wrong dimension")
        threads = elements
    counts_threads = threadgroups is None
    grid = _extents(threads if counts_threads else threadgroups)
    if not (group_sizes is None or isinstance(group_sizes, Iterable)) or isinstance(group_sizes, str):
        raise TypeError(f"group_sizes is a sequence of threadgroup sizes, not {group_sizes!r}")
    candidates = [_extents(size) for size in group_sizes or ()]
    default = [0, 0, 0] if group_size is None else _extents(group_size)
    contents, reached = _describe(args, bindings)
    options = tuning_options(
        [_padded(size) for size in candidates], margin, seconds, rounds, compare, tolerance, force,
        memory_by_index("threadgroup_memory_per_thread", threadgroup_memory_per_thread),
    )  # fmt: skip
    result = _core.tune(
        kernel._kernel, bindings, _padded(grid), counts_threads, _padded(default), options,
        memory_by_index("threadgroup_memory", threadgroup_memory), contents, reached, seconds_of("timeout", timeout),
    )  # fmt: skip
    sizes = [grid, *candidates] if group_size is None else [grid, *candidates, default]
    return TuneResult(result, grid, counts_threads, max(map(len, sizes)))


def tuning_options(
    candidates: Sequence[tuple[int, int, int]],
    margin: Any,
    seconds: Any,
    rounds: Any,
    compare: Any,
    tolerance: Any,
    force: Any,
    threadgroup_memory_per_thread: Mapping[int, int],
) -> _core.TuneOptions:
    """The options of one tuning, checked."""
    return _core.TuneOptions(
        candidates, real("margin", margin), real("seconds", seconds),
        None if rounds is None else integer("rounds", rounds, 0, (1 << 32) - 1), flag("compare", compare),
        None if tolerance is None else real("tolerance", tolerance), flag("force", force),
        threadgroup_memory_per_thread,
    )  # fmt: skip


def _tensor_kind(tensor: Any) -> str:
    return names_by_library().get(str(tensor.dtype).removeprefix("torch."), "")


def _describe(args: Sequence[Any], bindings: Sequence[tuple[int, Any]]) -> tuple[dict[int, Any], list[Any]]:
    """Element type and shape of each array by index, and the memory of tensors in lists."""
    contents: dict[int, tuple[str, list[int]]] = {}
    reached: list[tuple[int, int, str]] = []
    for index, binding in bindings:
        if index >= len(args):
            continue  # the error buffer
        value = args[index]
        if isinstance(binding, _core.HostArray):
            shape = [int(extent) for extent in getattr(value, "shape", (binding.count,))]
            name = binding.kind if binding.kind == "bool" else f"{binding.kind}{8 * binding.item_bytes}"
            contents[index] = (names_by_library().get(name, ""), shape)
        elif is_tensor(value) and not isinstance(binding, bytes):
            contents[index] = (_tensor_kind(value), list(value.shape))
        elif isinstance(value, (list, tuple)) and value and is_tensor(value[0]):
            reached += [(*memory_of(tensor), _tensor_kind(tensor)) for tensor in value]
    return contents, reached
