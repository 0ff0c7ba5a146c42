"""Traces of compiles and dispatches in Chrome's format."""

from __future__ import annotations

import os
import pathlib

from .. import _core
from .._arguments.numbers import described


def start_trace(file: str | os.PathLike[str]) -> None:
    """Ends the trace that is being written, if there is one, and begins another.

    Args:
        file: what to write. chrome://tracing and ui.perfetto.dev open it.

    Raises:
        TypeError: ``file`` is no path.
        metalloid.Error: the file cannot be written.
    """
    if not isinstance(file, (str, os.PathLike)) or not isinstance(os.fspath(file), str):
        raise TypeError(f"file must be a path, not {described(file)}")
    if "\0" in os.fspath(file):
        raise ValueError(f"file must be a path without zero bytes, not {described(file)}")
    os.fspath(file).encode()  # UnicodeEncodeError for halves of surrogate pairs
    _core.start_trace(os.fspath(file))


def stop_trace() -> None:
    """Ends the trace that is being written, if there is one."""
    _core.stop_trace()


def trace_file() -> pathlib.Path | None:
    """The file that is being written to, or will be with the first event."""
    return _core.trace_file()
