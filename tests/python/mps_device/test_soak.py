"""Threads and streams in each other's way. `make soak` does it under ThreadSanitizer, for minutes."""

import os
import pathlib

import pytest
import torch_processes

SCRIPT = pathlib.Path(__file__).parent / "soak" / "run.py"


@pytest.mark.parametrize("device", ["cpu", "trial_unified", "trial"])
def test_soak(device):
    env = os.environ | {"METALLOID_DEVICE": device, "METALLOID_TRIAL_ENGINE": "1"}
    done = torch_processes.run(["-m", "metalloid.mps", SCRIPT, "1"], env=env)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 0
