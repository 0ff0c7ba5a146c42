"""`metalloid aten test` without a folder: Metalloid's own operators."""

import subprocess
import sys


def test_metal_kernels_of_metalloids_own_operators_are_seen():
    command = [sys.executable, "-m", "metalloid", "aten", "test", "--op", "neg", "--samples", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "float32    ?           18/18      18/18" in done.stdout
