"""``python -m metalloid.NAME SCRIPT ARGS...``: runs Python code as python itself does, with a runner's changes."""

from __future__ import annotations

import importlib.machinery
import os
import pathlib
import pkgutil
import runpy
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

from . import Runner, checking


def main(runner: Runner, usage: str, take_options: Callable[[list[str]], list[str]] | None = None) -> None:
    """Heeds the arguments of this process.

    Args:
        usage: what ``--help`` prints.
        take_options: heeds the runner's own options in front of the script and returns what follows them; a ValueError
            of it is a wrong option.
    """
    program = f"python -m metalloid.{runner.name}"
    arguments = sys.argv[1:]
    try:
        check_options, arguments = checking.take_options(arguments)
        arguments = take_options(arguments) if take_options else arguments
    except ValueError as error:
        _fail(f"{program}: {error}")
    kind = arguments[0] if arguments else None
    if kind in (None, "-h", "--help"):
        print(usage.strip("\n") + "\n" + checking.usage.rstrip("\n"), file=sys.stderr if kind is None else sys.stdout)
        raise SystemExit(2 if kind is None else 0)
    if kind in ("-m", "-c") and len(arguments) < 2:
        _fail(f"{program} {kind}: expected one argument")
    if kind.startswith("-") and kind not in ("-m", "-c", "-"):
        _fail(f"{program}: unknown option {kind}; options of the script come behind its name")
    if kind not in ("-m", "-c", "-") and not os.path.exists(kind):
        _fail(f"{program}: can't open file '{kind}': [Errno 2] No such file or directory")
    if missing := runner.what_is_missing():
        _fail(f"{program} {missing}")
    runner.activate_child_processes()
    runner.activate()
    check = checking.ScriptCheck(check_options)
    check.begin()
    try:
        _run(kind, arguments)
    except SystemExit as end:
        check.status = 0 if end.code in (None, 0) else 1
        raise
    except BaseException as error:
        check.status = 1
        _hide_runner(error)
        raise


def _fail(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2)  # as python's own


def _run(kind: str, arguments: list[str]) -> None:
    if kind == "-m":
        sys.argv = ["-m", *arguments[2:]]
        _search_first(os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *arguments[2:]]
        _search_first("")
        _run_text(arguments[1], "<string>")
    elif kind == "-":
        sys.argv = arguments
        _search_first("")
        _run_text(sys.stdin.buffer.read(), "<stdin>")
    else:
        sys.argv = arguments
        _search_first(os.path.dirname(os.path.realpath(kind)))
        path = os.path.join(os.getcwd(), kind)
        if pkgutil.get_importer(path) is not None or path.endswith(".pyc"):  # a folder or an archive
            runpy.run_path(path, run_name="__main__")
        else:
            _run_text(pathlib.Path(path).read_bytes(), path, importlib.machinery.SourceFileLoader("__main__", path))


def _search_first(folder: str) -> None:
    """Where imports look first; python -P has no such place."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _run_text(text: str | bytes, name: str, loader: Any = importlib.machinery.BuiltinImporter) -> None:
    module = types.ModuleType("__main__")
    module.__loader__ = loader
    if name != "<string>":
        module.__file__ = name
    sys.modules["__main__"] = module
    exec(compile(text, name, "exec", dont_inherit=True), module.__dict__)


def _hide_runner(error: BaseException) -> None:
    """The script's traceback begins with the script, in whatever shows it at the end of the process."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_globals.get("__name__") in (__name__, "runpy"):
        traceback = traceback.tb_next
    show = sys.excepthook

    def show_script(kind, value, whole) -> None:
        if value is error:
            value, whole = value.with_traceback(traceback), traceback
        show(kind, value, whole)

    sys.excepthook = show_script
