"""Makes the Python processes that this one starts run Mac scripts, too."""

from __future__ import annotations

import os
import pathlib


def turn_on(variable: str) -> None:
    """Sets the environment variable to 1 and lets children find the sitecustomize module that heeds it. That one runs
    the environment's own, too."""
    package = pathlib.Path(__file__).parent.parent
    startup, root = str(package / "startup"), str(package.parent)
    others = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != startup]
    if root not in others:
        others.append(root)
    os.environ["PYTHONPATH"] = os.pathsep.join([startup, *others])
    os.environ[variable] = "1"
