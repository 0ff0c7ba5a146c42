"""python -m metalloid.mps and .mlx run code as python itself does: the same arguments, paths, exit codes, tracebacks."""

import importlib.util
import os
import signal
import subprocess
import sys

import pytest

RUNNERS = [
    pytest.param(name, marks=pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"no {package}"))
    for name, package in (("mps", "torch"), ("mlx", "mlx"))
]
pytestmark = pytest.mark.parametrize("runner", RUNNERS)

SHOW = """
import neighbour, pickle, sys
class Local: pass
main = sys.modules["__main__"]
print(__name__, sys.argv, sys.path[0], globals().get("__file__"), main.__dict__ is globals(), neighbour.value)
assert isinstance(pickle.loads(pickle.dumps(Local())), Local)
"""
WAYS = {
    "script": ["script.py", "a", "--help"],
    "elsewhere": ["folder/../script.py", "a"],
    "link": ["folder/link.py", "-m"],
    "folder": [],  # by its whole path
    "module": ["-m", "script", "a", "-h"],
    "package": ["-m", "folder", "a"],
    "code": ["-c", SHOW, "a", "-c"],
    "input": ["-", "a"],
}


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / "folder").mkdir(exist_ok=True)
        for place in ("", "folder"):
            (tmp_path / place / "neighbour.py").write_text(f"value = {place!r}")
        (tmp_path / "script.py").write_text(text)
        (tmp_path / "folder" / "__main__.py").write_text(text)
        (tmp_path / "folder" / "link.py").unlink(missing_ok=True)
        (tmp_path / "folder" / "link.py").symlink_to(tmp_path / "script.py")

    return write


def run(*command, cwd, text="", **variables):
    return subprocess.run(
        [sys.executable, *command], input=text, capture_output=True, text=True, timeout=1200, cwd=cwd,
        env={**os.environ, **variables},
    )  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_the_code_sees(runner, way, write, tmp_path):
    write(SHOW)
    command = [str(tmp_path / "folder"), "a"] if way == "folder" else WAYS[way]
    theirs = run(*command, cwd=tmp_path, text=SHOW)
    assert theirs.returncode == 0, theirs.stderr
    ours = run("-m", f"metalloid.{runner}", *command, cwd=tmp_path, text=SHOW)
    assert (ours.stdout, ours.stderr, ours.returncode) == (theirs.stdout, theirs.stderr, 0)


ENDS = {
    "error": "def f():\n    raise ValueError('x')\ntry:\n    f()\nexcept ValueError:\n    f()",
    "syntax": "print(1)\nx = = 2",
    "hook": "import sys, traceback\nsys.excepthook = lambda kind, value, trace: print(traceback.extract_tb(trace)[0].lineno)\n1 / 0",
    "number": "raise SystemExit(7)",
    "words": "raise SystemExit('no')",
    "interrupt": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(60)",
    "at_exit": "import atexit\natexit.register(lambda: print('last'))\nraise KeyError('k')",
}


@pytest.mark.parametrize(
    "way, end", [*(("script", end) for end in ENDS), *((way, "error") for way in ("module", "code", "input"))]
)
def test_how_the_code_ends(runner, way, end, write, tmp_path):
    write(ENDS[end])
    command = [ENDS[end] if word == SHOW else word for word in WAYS[way]]
    theirs = run(*command, cwd=tmp_path, text=ENDS[end])
    ours = run("-m", f"metalloid.{runner}", *command, cwd=tmp_path, text=ENDS[end])

    def text_of(stderr):
        """Python's own -m shows its own frames, and newer ones show the text of -c and of standard input."""
        lines = [line for line in stderr.splitlines() if "<frozen runpy>" not in line]
        return [line for line in lines if line.startswith("  File") or not line.startswith(" ")]

    assert ours.returncode == theirs.returncode
    assert end in ("number", "words", "at_exit", "hook") or theirs.returncode in (1, -signal.SIGINT)
    assert (ours.stdout, text_of(ours.stderr)) == (theirs.stdout, text_of(theirs.stderr))
    assert "metalloid" not in ours.stderr and "runpy" not in ours.stderr


def test_child_processes(runner, write, tmp_path):
    write("import os, subprocess, sys\nsubprocess.run([sys.executable, '-c', os.environ['CODE']], check=True)")
    code = "import sys; print(sorted(name for name in sys.modules if name.startswith('metalloid._runners')), 'torch' in sys.modules)"
    ours = run("-m", f"metalloid.{runner}", "script.py", cwd=tmp_path, CODE=code)
    assert "metalloid._runners.import_hook" in ours.stdout and ours.stdout.endswith("False\n"), ours.stderr


def test_wrong_use(runner, tmp_path):
    program = f"python -m metalloid.{runner}"
    for command, message in (
        ([], "usage" if runner == "mlx" else "arguments..."),
        (["--fast"], f"{program}: unknown option --fast"),
        (["-c"], f"{program} -c: expected one argument"),
        (["missing.py"], f"{program}: can't open file 'missing.py'"),
    ):
        ours = run("-m", f"metalloid.{runner}", *command, cwd=tmp_path)
        assert ours.returncode == 2 and message in ours.stderr and not ours.stdout and "Traceback" not in ours.stderr
    assert run("-m", f"metalloid.{runner}", "--help", cwd=tmp_path).returncode == 0


def test_a_library_that_is_missing_is_named(runner, write, tmp_path):
    write("raise SystemExit(0)")
    hide = "import sys; sys.path[:] = [entry for entry in sys.path if 'site-packages' not in entry]; "
    start = f"sys.argv[1:] = ['script.py']; import runpy; runpy.run_module('metalloid.{runner}', run_name='__main__')"
    ours = run("-c", hide + start, cwd=tmp_path)
    package = {"mps": "torch", "mlx": "mlx"}[runner]
    assert ours.returncode == 2 and f"needs {package}, which" in ours.stderr and "(pip install " in ours.stderr
