"""python -m metalloid.mps: see the package's own text."""

from __future__ import annotations

import os
import runpy
import sys

from . import __doc__ as usage
from . import macos
from .activation import activate_child_processes, install_on_import


def _without_options(arguments: list[str]) -> list[str]:
    """Heeds ``--macos VERSION`` in front of the script."""
    while arguments and arguments[0].partition("=")[0] == "--macos":
        value = arguments[0].partition("=")[2] or "".join(arguments[1:2])
        arguments = arguments[1 if "=" in arguments[0] else 2 :]
        try:
            macos.parse(value)
        except ValueError as error:
            raise SystemExit(f"python -m metalloid.mps --macos: {error}") from None
        os.environ[macos.variable] = value
    try:
        macos.version()
    except ValueError as error:
        raise SystemExit(f"python -m metalloid.mps: {error}") from None
    return arguments


def main() -> None:
    arguments = _without_options(sys.argv[1:])
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage)
        raise SystemExit(0 if arguments else 2)
    kind = arguments[0]
    if kind in ("-m", "-c") and len(arguments) < 2:
        raise SystemExit(f"python -m metalloid.mps {kind}: expected one argument")
    if kind.startswith("-") and kind not in ("-m", "-c"):
        raise SystemExit(f"python -m metalloid.mps: unknown option {kind}; options of the script come behind its name")
    activate_child_processes()
    install_on_import()
    if kind == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *arguments[2:]]
        sys.path[0] = ""
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    else:
        if not os.path.exists(kind):
            raise SystemExit(f"python -m metalloid.mps: can't open file '{kind}'")
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(kind))
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    main()
