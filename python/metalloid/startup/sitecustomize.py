"""Run by Python at its start in processes below `python -m metalloid.mps` and `.mlx`, which put this folder first in
PYTHONPATH: turns there on what METALLOID_MPS and METALLOID_MLX ask for, after the sitecustomize that this one hides."""

import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.realpath(os.path.dirname(os.path.abspath(__file__)))


def _run_the_hidden_one() -> None:
    path = [entry for entry in sys.path if os.path.realpath(entry or ".") != _here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


_run_the_hidden_one()
try:
    if _is_on("METALLOID_MPS"):
        from metalloid.mps.activation import install_on_import

        install_on_import()
    if _is_on("METALLOID_MLX"):
        from metalloid.mlx._import_hook import activate

        activate()
except ImportError as error:  # a child with another interpreter
    print(f"metalloid: METALLOID_MPS and METALLOID_MLX have no effect in {sys.executable}: {error}", file=sys.stderr)
