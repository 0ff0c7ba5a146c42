"""The examples of docs/coming-from-mlx.md run as they stand there."""

import re
import subprocess
import sys

import pytest
from conftest import root

pytest.importorskip("mlx.core")

PAGE = root / "docs" / "coming-from-mlx.md"


def blocks(heading):
    return re.findall(rf"^```{re.escape(heading)}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def test_kernel_and_derivative():
    code = blocks("python")
    assert len(code) == 2
    exec(compile("\n".join(code), PAGE, "exec"), {"__name__": "example"})


def test_script_for_a_mac(tmp_path):
    (code,) = blocks('python title="script.py"')
    script = tmp_path / "script.py"
    script.write_text(code)
    result = subprocess.run([sys.executable, "-m", "metalloid.mlx", script], capture_output=True, text=True, timeout=1200)
    assert result.stdout == "array([2, 9, 28], dtype=float32)\nDevice(cpu, 0)\n", result.stderr
