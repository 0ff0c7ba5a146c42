"""Traces that a script asks for in its own library's words: torch.mps.profiler, mx.metal.start_capture.

On a Mac these make files for Xcode and Instruments. Here they make Chrome's trace format, which chrome://tracing and
ui.perfetto.dev open. Where METALLOID_TRACE already traces the whole process, they leave that trace alone.
"""

from __future__ import annotations

import itertools
import os
import sys

from .. import _core

_file: str | None = None  # what start() began
_numbers = itertools.count(1)


def is_running() -> bool:
    return _file is not None


def start(name: str | os.PathLike[str] | None = None) -> None:
    """Begins a trace.

    Args:
        name: the file, with ``.json`` behind it unless it ends so; default: ``metalloid-trace.json`` in the current
            folder, then ``metalloid-trace-2.json`` and so on.

    Raises:
        metalloid.Error: the file cannot be written.
    """
    global _file
    if _file is None and _core.trace_file() is not None:
        return
    if name is None:
        number = next(_numbers)
        name = "metalloid-trace.json" if number == 1 else f"metalloid-trace-{number}.json"
    file = os.path.abspath(os.fspath(name))
    if not file.endswith(".json"):
        file += ".json"
    _core.start_trace(file)
    _file = file


def stop() -> None:
    """Ends the trace that start() began, and says where it is."""
    global _file
    if _file is None:
        return
    file, _file = _file, None
    _core.stop_trace()
    print(f"metalloid: the trace is in {file} (for chrome://tracing and ui.perfetto.dev)", file=sys.stderr)
