"""pytest finds the plugin of a build folder in an environment that has no more of it than a .pth file, as `make build` writes."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import build

TEST = """
import numpy

def test_kernel(metal_library):
    x = numpy.zeros(4, numpy.float32)
    metal_library("kernel void one(device float* x, uint i [[thread_position_in_grid]]) {\\n x[i] = 1; }").one(x)
    assert (x == 1).all()
"""


@pytest.fixture
def run(tmp_path):
    place = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True, timeout=1200)
    (packages,) = place.glob("lib/python*/site-packages")
    numpy = pathlib.Path(__import__("numpy").__file__).parent.parent
    (packages / "others.pth").write_text(f"{numpy}\n")  # pytest is there, too
    (packages / "metalloid.pth").write_text(f"{build / 'python'}\n")
    (tmp_path / "test_kernel.py").write_text(TEST)

    def run_python(*arguments):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [place / "bin" / "python", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1200)

    return run_python


def test_its_fixtures_and_options(run):
    done = run("-m", "pytest", "-p", "no:cacheprovider", "--metalloid-require-kernels", "test_kernel.py")
    assert done.returncode == 0 and "metalloid: 1 test launched kernels" in done.stdout, done.stdout + done.stderr


def test_a_suite_for_a_mac(run, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "test_mps.py").write_text(
        "import torch\n\ndef test_mps():\n    assert torch.backends.mps.is_available() and torch.ones(3, device='mps').sum() == 3\n"
    )
    done = run("-m", "pytest", "-p", "no:cacheprovider", "--metalloid-mps", "test_mps.py")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_its_version(run):
    import metalloid

    done = run("-c", "import importlib.metadata; print(importlib.metadata.version('metalloid'))")
    assert done.stdout == f"{metalloid.__version__}\n", done.stderr
