"""Errors that kernels report themselves: TORCH_REPORT_ERROR of <c10/metal/error.h>, and when the host sees them."""

from __future__ import annotations

import ctypes
import sys

from . import _core


class AcceleratorError(RuntimeError):
    """A kernel reported an error. With torch imported, torch.AcceleratorError is raised instead of this class."""


def _accelerator_error(text: str) -> Exception:
    torch = sys.modules.get("torch")
    return getattr(torch, "AcceleratorError", AcceleratorError)(text)


# The memory that kernels report into (the first 30 messages since the last check), by address and length.
error_buffer: tuple[int, int] = _core.error_buffer()

error_memory = (ctypes.c_ubyte * error_buffer[1]).from_address(error_buffer[0])

_count = ctypes.c_uint32.from_address(error_buffer[0])  # how many messages there are stands first


def is_reported() -> bool:
    """Whether a kernel has reported an error that nobody was told of."""
    return _count.value != 0


def raise_reported() -> None:
    """What the host sees next may be wrong: raises what was reported, if anything was."""
    if is_reported():
        synchronize()


def synchronize() -> None:
    """Waits for every kernel that was called and raises what one of them reported through its error buffer.

    Kernels have finished when their call returns, but those on a GPU's arrays: what went wrong in them is raised here, or
    by a later call with the same stream. What ``TORCH_REPORT_ERROR`` wrote is raised here, or by the first call
    that looks into a torch tensor (``item``, ``tolist``, ``cpu``, ``print``, ``torch.equal`` and so on), as torch does.

    Raises:
        metalloid.Error: a kernel on a GPU's arrays went outside of its memory, crashed or ran into its timeout.
        AcceleratorError: a kernel reported an error (``torch.AcceleratorError`` if torch is imported). Of several
            messages the first is raised; all are forgotten.
    """
    if "metalloid._arguments.device_arrays" in sys.modules:
        sys.modules["metalloid._arguments.device_arrays"].synchronize_streams()
    reported = _core.take_reported_error()
    if "metalloid._draining" in sys.modules:
        sys.modules["metalloid._draining"].end_watch()
    if reported is None:
        return
    message, place, count = reported
    error = _accelerator_error(message)
    error.add_note(f"reported by {place}, the first of {count}")
    raise error
