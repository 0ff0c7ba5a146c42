"""python -m metalloid.mlx: runs a script, a module or code with Metal kernels on Metalloid."""

from __future__ import annotations

import os
import runpy
import sys
import types

from ._import_hook import activate_child_processes

USAGE = """\
usage: python -m metalloid.mlx SCRIPT [ARGS...]
       python -m metalloid.mlx -m MODULE [ARGS...]
       python -m metalloid.mlx -c CODE [ARGS...]

Runs Python code that uses MLX as if this machine had a GPU: kernels of mx.fast.metal_kernel run on Metalloid, all
other operations on MLX's CPU back end. Python processes that the code starts do the same (METALLOID_MLX=1).
"""


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    first, rest = arguments[0], arguments[1:]
    if first in ("-m", "-c") and not rest or first.startswith("-") and first not in ("-m", "-c"):
        print(f"metalloid.mlx: cannot run {' '.join(arguments)!r}\n{USAGE}", end="", file=sys.stderr)
        return 2
    try:
        from . import install

        install()
    except ImportError as error:
        print(f"metalloid.mlx: MLX is not installed (pip install 'mlx[cpu]'): {error}", file=sys.stderr)
        return 2
    activate_child_processes()

    # As python itself does: argv, and the place where imports look first.
    if first == "-m":
        sys.argv = ["-m", *rest[1:]]
        sys.path[0] = os.getcwd()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path[0] = ""
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        exec(compile(rest[0], "<string>", "exec"), module.__dict__)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(first))
        runpy.run_path(first, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
