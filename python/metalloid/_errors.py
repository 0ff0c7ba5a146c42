"""Errors that kernels report themselves: TORCH_REPORT_ERROR of <c10/metal/error.h>, and when the host sees them."""

from __future__ import annotations

import struct
import sys
import threading

from . import _core

# As in <c10/metal/error.h>: struct ErrorMessages { atomic<uint> count; ErrorMessage msg[30]; }.
_capacity = 30
_message = struct.Struct("<128s128s250s2xI")  # file, function, message, line
_buffer_bytes = 4 + _capacity * _message.size


class AcceleratorError(RuntimeError):
    """A kernel reported an error. With torch imported, torch.AcceleratorError is raised instead of this class."""


def _accelerator_error(text: str) -> Exception:
    torch = sys.modules.get("torch")
    return getattr(torch, "AcceleratorError", AcceleratorError)(text)


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


class ErrorBuffer:
    """The memory that kernels report into: the first 30 messages since the last check, and how many there were."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._storage = bytearray(_buffer_bytes)
        self.array = _core.HostArray(self._storage)

    def check(self) -> None:
        """Raises the first message as an AcceleratorError and forgets them all; nothing if there is none."""
        with self._lock:
            (count,) = struct.unpack_from("<I", self._storage)
            if count == 0:
                return
            file, function, message, line = _message.unpack_from(self._storage, 4)
            self._storage[:] = bytes(_buffer_bytes)
        error = _accelerator_error(_text(message))
        error.add_note(f"reported by {_text(function)} at {_text(file)}:{line}, the first of {count}")
        raise error


error_buffer = ErrorBuffer()


def synchronize() -> None:
    """Waits for every kernel that was called and raises what one of them reported through its error buffer.

    Kernels have finished when their call returns; what ``TORCH_REPORT_ERROR`` wrote is raised here, as torch does.

    Raises:
        AcceleratorError: a kernel reported an error (``torch.AcceleratorError`` if torch is imported). Of several
            messages the first is raised; all are forgotten.
    """
    error_buffer.check()
