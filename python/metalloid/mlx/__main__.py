"""python -m metalloid.mlx: runs a script, a module or code with Metal kernels on Metalloid."""

from __future__ import annotations

from .._runners import runners
from .._runners.script import main

USAGE = """\
usage: python -m metalloid.mlx SCRIPT [ARGS...]
       python -m metalloid.mlx -m MODULE [ARGS...]
       python -m metalloid.mlx -c CODE [ARGS...]
       python -m metalloid.mlx - [ARGS...]            (code from standard input)

Runs Python code that uses MLX as if this machine had a GPU: kernels of mx.fast.metal_kernel run on Metalloid, all
other operations on MLX's CPU back end. Python processes that the code starts do the same (METALLOID_MLX=1).
"""

if __name__ == "__main__":
    main(runners["mlx"], USAGE)
