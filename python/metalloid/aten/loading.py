"""Folders of operators and their libraries into this process: ``metalloid.aten.load`` and $METALLOID_ATEN."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence

from ..mps._plugin import CannotBuild
from . import build, libraries

VARIABLE = "METALLOID_ATEN"


def load(path: str | os.PathLike[str], operators: Sequence[str] = ()) -> None:
    """``metalloid.aten.load``, once the device is there."""
    file = pathlib.Path(path)
    if file.suffix == ".so" and not file.is_dir():
        libraries.put(file.name, file.read_bytes())
        return
    build.build(path, operators)


def load_those_of_the_environment() -> None:
    """What $METALLOID_ATEN names. Its paths become absolute, for child processes that run elsewhere.

    Raises:
        ImportError: one cannot be loaded; the text says why.
    """
    paths = [os.path.abspath(path) for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    if paths:
        os.environ[VARIABLE] = os.pathsep.join(paths)
    for path in paths:
        try:
            load(path)
        except (ValueError, CannotBuild, OSError) as error:
            raise ImportError(f"${VARIABLE}: {error}") from None
