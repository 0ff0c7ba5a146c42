"""Kernels on mx.array: as operations of MLX's graph where that can be had, else at once.

=======  ============================================================================================================
lazy     the kernel is an operation of MLX like its own (lazy.py). Needs an extension, which is compiled at first
         use.
eager    the kernel runs when it is called (eager.py)
=======  ============================================================================================================

``METALLOID_MLX_EVALUATION`` chooses one. Without it, lazy is tried, and where that fails a warning says why.
"""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any

from .._call import Call
from . import eager

_runs = {"eager": eager.run}
_lock = threading.Lock()
_chosen: str | None = None


def evaluation() -> str:
    """How kernels on mx.array run in this process: "lazy" or "eager". Decides it, if nobody has yet.

    Raises:
        RuntimeError: METALLOID_MLX_EVALUATION is "lazy", and that cannot be had.
        ValueError: METALLOID_MLX_EVALUATION is neither.
    """
    with _lock:
        if _chosen is None:
            wanted = os.environ.get("METALLOID_MLX_EVALUATION") or None
            try:
                _choose(wanted or "lazy")
            except RuntimeError as error:
                if wanted is not None:
                    raise
                _choose("eager")
                warnings.warn(
                    f"kernels on mx.array run when they are called, and mx.compile cannot trace them: {error}. "
                    "METALLOID_MLX_EVALUATION=eager chooses this without a warning.",
                    RuntimeWarning,
                    stacklevel=3,
                )
        assert _chosen is not None
        return _chosen


def set_evaluation(name: str) -> None:
    """Chooses "lazy" or "eager" for the calls that follow, in all threads.

    Raises:
        RuntimeError: "lazy" cannot be had; the text says why.
        ValueError: another name.
    """
    with _lock:
        _choose(name)


def _choose(name: str) -> None:
    global _chosen
    if name not in ("lazy", "eager"):
        raise ValueError(f"kernels on mx.array can be evaluated 'lazy' or 'eager', not {name!r}")
    if name not in _runs:
        from . import lazy

        lazy.load()
        _runs[name] = lazy.run
    _chosen = name


def run(call: Call) -> list[Any]:
    return _runs[_chosen or evaluation()](call)
