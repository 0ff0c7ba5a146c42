"""Python imports this at start in child processes of `python -m metalloid.mlx`, which has put its folder first in
PYTHONPATH. Only METALLOID_MLX=1 makes it do anything; then the sitecustomize that it hides has its turn."""

import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))

if os.environ.get("METALLOID_MLX") == "1":
    try:
        from metalloid.mlx._import_hook import activate
    except ImportError as error:  # a child with another interpreter
        print(f"metalloid: METALLOID_MLX=1 has no effect in {sys.executable}: {error}", file=sys.stderr)
    else:
        activate()

_path = [entry for entry in sys.path if os.path.abspath(entry) != _here]
_hidden = importlib.machinery.PathFinder.find_spec("sitecustomize", _path)
if _hidden is not None and _hidden.loader is not None:
    _hidden.loader.exec_module(importlib.util.module_from_spec(_hidden))
