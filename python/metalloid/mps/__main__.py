"""python -m metalloid.mps: see the package's own text."""

from __future__ import annotations

import os

from .._runners import runners
from .._runners.script import main
from . import __doc__ as usage
from . import macos


def _take_options(arguments: list[str]) -> list[str]:
    """Heeds ``--macos VERSION`` in front of the script."""
    while arguments and arguments[0].partition("=")[0] == "--macos":
        value = arguments[0].partition("=")[2] or "".join(arguments[1:2])
        arguments = arguments[1 if "=" in arguments[0] else 2 :]
        try:
            macos.parse(value)
        except ValueError as error:
            raise ValueError(f"--macos: {error}") from None
        os.environ[macos.variable] = value
    macos.version()  # the environment's may be wrong
    return arguments


if __name__ == "__main__":
    main(runners["mps"], usage or "", _take_options)
