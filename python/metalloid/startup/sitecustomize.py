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


_run_the_hidden_one()
try:
    if any(name.startswith("METALLOID_") for name in os.environ):
        from metalloid._runners import runners

        for runner in runners.values():
            if runner.is_wanted():
                runner.activate()
except ImportError as error:  # a child with another interpreter
    print(f"metalloid: METALLOID_MPS and METALLOID_MLX have no effect in {sys.executable}: {error}", file=sys.stderr)
