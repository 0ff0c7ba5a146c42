"""Run by Python at its start in processes below `python -m metalloid.mps`: turns the emulation on there."""

import importlib.machinery
import importlib.util
import os
import pathlib
import sys


def _run_the_other_one() -> None:
    here = pathlib.Path(__file__).parent.resolve()
    path = [entry for entry in sys.path if pathlib.Path(entry or ".").resolve() != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_run_the_other_one()
if os.environ.get("METALLOID_MPS", "0") not in ("", "0"):
    from metalloid.mps import install_on_import

    install_on_import()
