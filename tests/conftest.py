"""Fixtures for the Python tests: the built command line and package."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(os.environ.get("METALLOID_BUILD", root / "build"))
sys.path.insert(0, str(build / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(build / "python"), os.environ.get("PYTHONPATH")]))

# Ctrl-C has its usual effect in the tests and the processes they start, also where the runner was started without it,
# as shells do for commands in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """Compiled kernels of other runs stay out of the tests' way."""
    os.environ["METALLOID_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def examples() -> pathlib.Path:
    return root / "examples" / "kernels"


@pytest.fixture
def metalloid_cli():
    """Runs the command line and returns the finished process, with text output."""

    def run(*arguments, timeout=120, **keywords):
        command = [str(build / "bin" / "metalloid"), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **keywords)

    return run


@pytest.fixture
def source_file(tmp_path):
    """Writes Metal source to a file."""

    def write(text, name="kernel.metal"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write
