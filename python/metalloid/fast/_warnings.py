"""Warnings about kernels that reach outside their arrays, told where the programmer called them."""

from __future__ import annotations

import sys
import warnings

_package = __name__.partition(".")[0] + "."


def warn_of_reads_outside_inputs(name: str) -> None:
    _warn(
        f"the kernel {name!r} reads memory outside its inputs. It runs on copies of them with zeros around, which takes "
        "time; a check of the index before the read makes it faster and right."
    )


def warn_of_writes_outside_outputs(name: str) -> None:
    _warn(
        f"the kernel {name!r} writes memory outside its outputs, which is lost here and damages other data elsewhere. "
        "Look at the grid, the index and output_shapes."
    )


def _warn(text: str) -> None:
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_package):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, RuntimeWarning, stacklevel=level)
