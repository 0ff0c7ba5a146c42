"""The command line ``metalloid aten``."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

from . import __doc__ as usage

FINE, FAILED, WRONG_USE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Performs one command.

    Returns:
        0: fine; 1: the files do not build, a test fails, or lint found something; 2: the command line is wrong.
    """
    parser = argparse.ArgumentParser(
        prog="metalloid aten", description=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    new = commands.add_parser("new", help="write the files of an operator to start from")
    new.add_argument("name", metavar="NAME", help="of the operator; PyTorch may have it already")
    new.add_argument("folder", nargs="?", metavar="FOLDER", help="where to (default: NAME)")
    kinds = new.add_mutually_exclusive_group()
    for count, kind in enumerate(("unary", "binary", "ternary"), 1):
        kinds.add_argument(f"--{kind}", dest="inputs", action="store_const", const=count, help=f"it takes {count} tensors")
    new.add_argument("--cpp", action="store_true", help="the host file in plain C++ instead of Objective-C++")

    build = commands.add_parser("build", help="compile a folder")
    build.add_argument("folder", metavar="FOLDER", help="a checkout of PyTorch, or the files that change")
    _add_operators(build)
    build.add_argument("-o", "--output", metavar="LIBRARY", help="write the library that metalloid.aten.load takes, X.so")

    test = commands.add_parser("test", help="test operators on Metal kernels against the CPU")
    test.add_argument("folder", nargs="?", metavar="FOLDER", help="is built and loaded (default: Metalloid's own operators)")
    _add_operators(test)
    test.add_argument("--samples", type=int, default=0, metavar="N", help="at most N of OpInfo's samples a type")
    test.add_argument(
        "--opinfo", metavar="FILE",
        help="Python with OpInfos or sample_inputs_NAME, as in PyTorch's common_methods_invocations.py",
    )  # fmt: skip
    test.add_argument("--large", action="store_true", help="also more than 2^31 elements, which takes gigabytes")

    lint = commands.add_parser("lint", help="check a native_functions.yaml")
    lint.add_argument("path", nargs="?", metavar="FILE_OR_FOLDER", help="default: the installed PyTorch's")
    _add_operators(lint)

    options = _parse(parser, arguments)
    try:
        from ..mps._plugin import CannotBuild
    except ModuleNotFoundError as error:
        print(f"metalloid aten: it needs PyTorch, and {sys.executable} has no {error.name}", file=sys.stderr)
        return FAILED
    from ..mps._plugin.operators import FolderError, YamlError
    from ..mps._plugin.shaders import ShaderError
    from .contributed import CannotRead
    from .new import CannotBegin

    try:
        return _commands[options.command](options)
    except CannotBegin as error:
        print(f"metalloid aten: {error}", file=sys.stderr)
        return WRONG_USE
    except (YamlError, FolderError, ShaderError, CannotBuild, CannotRead) as error:
        print(error, file=sys.stderr)
        return FAILED
    except (OSError, UnicodeDecodeError) as error:
        print(f"metalloid aten: {error}", file=sys.stderr)
        return FAILED


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """As the usage lines say, a folder may stand behind options; argparse takes optional positions only in one piece."""
    options, rest = parser.parse_known_args(arguments)
    for place in ("folder", "path"):
        if len(rest) == 1 and not rest[0].startswith("-") and getattr(options, place, "") is None:
            setattr(options, place, rest.pop())
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return options


def _add_operators(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--op", action="append", default=[], dest="operators", metavar="NAME",
        help="only this operator, as in atan2 or atan2.out; may be given several times",
    )  # fmt: skip


def _new(options: argparse.Namespace) -> int:
    from . import new

    folder = pathlib.Path(options.folder or options.name)
    for file in new.write(options.name, options.inputs, folder, options.cpp):
        print(file)
    return FINE


def _build(options: argparse.Namespace) -> int:
    from . import build

    built = build.build(options.folder, options.operators)
    build.report(built)
    if options.output is not None:
        pathlib.Path(options.output).write_bytes(built.binary)
        print(options.output)
    return FINE


def _test(options: argparse.Namespace) -> int:
    from . import run_tests

    return FINE if run_tests.run(options.folder, options.operators, options.samples, options.large, options.opinfo) else FAILED


def _lint(options: argparse.Namespace) -> int:
    from . import lint

    findings = lint.lint(pathlib.Path(options.path) if options.path else None, options.operators)
    for finding in findings:
        print(finding)
    print(f"{len(findings)} found" if findings else "nothing found", file=sys.stderr)
    return FAILED if findings else FINE


_commands = {"new": _new, "build": _build, "test": _test, "lint": _lint}


if __name__ == "__main__":
    sys.exit(main())
