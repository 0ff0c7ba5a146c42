"""python -m metalloid.objc: runs a script, a module or code that opens Metal's libraries by ctypes."""

from __future__ import annotations

from .._runners import runners
from .._runners.script import main

USAGE = """\
usage: python -m metalloid.objc SCRIPT [ARGS...]
       python -m metalloid.objc -m MODULE [ARGS...]
       python -m metalloid.objc -c CODE [ARGS...]
       python -m metalloid.objc - [ARGS...]            (code from standard input)

Runs Python code that speaks to Metal as on a Mac, by ctypes and objc_msgSend: libraries of Apple's by their names and
paths are Metalloid's, and platform says that this is macOS 15. Python processes that the code starts do the same
(METALLOID_OBJC=1).
"""

if __name__ == "__main__":
    main(runners["objc"], USAGE)
