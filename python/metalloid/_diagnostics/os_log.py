"""What kernels print with os_log, handed to the logger "metalloid".

Messages of a kernel's own ``os_log("com.example", "kernels")`` go to its child "metalloid.com.example.kernels".
"""

from __future__ import annotations

import logging
import sys

logger = logging.getLogger("metalloid")
_levels = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "default": logging.INFO,
    "error": logging.ERROR,
    "fault": logging.CRITICAL,
}


def handle(
    level: str,
    text: str,
    description: str,
    subsystem: str,
    category: str,
    kernel: str,
    thread: tuple[int, int, int],
    file: str,
    line: int,
    lost: int,
) -> None:
    """Called for each message, after the launch. Records have what is not text as ``record.metal``.

    Programs that have set up no logging see the messages on standard error.
    """
    if not logger.hasHandlers():
        if sys.stderr is not None:
            try:
                print(description, file=sys.stderr, flush=True)
            except (OSError, ValueError):  # closed or full
                pass
        return
    # What a kernel prints is meant to be seen, also where the root logger shows warnings only.
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.DEBUG)
    number = _levels[level]
    own = logging.getLogger(".".join(name for name in (logger.name, subsystem, category) if name))
    if not own.isEnabledFor(number):
        return
    metal = {
        "kernel": kernel,
        "thread": thread,
        "file": file,
        "line": line,
        "text": text,
        "lost": lost,
        "subsystem": subsystem,
        "category": category,
    }
    record = own.makeRecord(
        own.name,
        number,
        file or "(metal)",
        line,
        description,
        (),
        None,
        kernel,
        {"metal": metal},
    )
    own.handle(record)
