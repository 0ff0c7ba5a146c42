"""The command line: what the command ``metalloid`` and ``python -m metalloid`` start."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys


def main() -> None:
    """Becomes the program ``metalloid`` with the arguments of this process."""
    extension = importlib.util.find_spec("metalloid._core")  # without loading it
    if extension is not None and extension.origin is not None:
        package = pathlib.Path(extension.origin).parent
        # Installed, or in a build folder.
        for place in (package / "bin/metalloid", package.parents[1] / "bin/metalloid"):
            if place.is_file():
                os.environ.setdefault("METALLOID_PYTHON", sys.executable)  # of commands that are Python's
                os.execv(place, ["metalloid", *sys.argv[1:]])
    sys.exit("metalloid: this installation has no command line; it was built with -DMETALLOID_TOOLS=OFF")


if __name__ == "__main__":
    main()
