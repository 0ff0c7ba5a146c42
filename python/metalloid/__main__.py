"""The command line: what the commands ``metalloid``, ``metalloid-clang`` and ``python -m metalloid`` start."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys


def command_line() -> pathlib.Path:
    """The program ``metalloid`` of this installation, or of a build folder. Exits if there is none."""
    extension = importlib.util.find_spec("metalloid._core")  # without loading it
    if extension is not None and extension.origin is not None:
        package = pathlib.Path(extension.origin).parent
        for place in (package / "bin/metalloid", package.parents[1] / "bin/metalloid"):
            if place.is_file():
                return place
    sys.exit("metalloid: this installation has no command line; it was built with -DMETALLOID_TOOLS=OFF")


def main(name: str = "metalloid") -> None:
    """Becomes the program ``metalloid``, or one of the tools that it is under other names, with this process' arguments."""
    program = command_line()
    os.environ.setdefault("METALLOID_PYTHON", sys.executable)  # of commands that are Python's
    os.execv(program, [name, *sys.argv[1:]])


def clang() -> None:
    """The command ``metalloid-clang``: Clang with the arguments that builds for a Mac give it."""
    main("metalloid-clang")


def clang_plus_plus() -> None:
    """The command ``metalloid-clang++``."""
    main("metalloid-clang++")


if __name__ == "__main__":
    main()
