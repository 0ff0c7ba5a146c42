"""Work on "mps" is in order on every device that runs it, also where kernels are done after their call, and where they
cannot reach the host's memory."""

from __future__ import annotations

import json
import os
import pathlib

import pytest
import torch_processes

SCRIPT = pathlib.Path(__file__).parent / "streams" / "script.py"


@pytest.mark.parametrize("device", ["cpu", "trial_unified", "trial"])
def test_streams_events_and_memory(device):
    env = os.environ | {"METALLOID_DEVICE": device, "METALLOID_TRIAL_ENGINE": "1"}
    done = torch_processes.run(["-m", "metalloid.mps", SCRIPT], env=env)
    assert done.returncode == 0, done.stderr
    failed = json.loads(done.stdout)
    assert not failed, "\n".join(f"{name}:\n{why}" for name, why in failed.items())


def test_a_device_that_does_not_exist():
    done = torch_processes.run(["-m", "metalloid.mps", "-c", "import torch"], env=os.environ | {"METALLOID_DEVICE": "none"})
    assert done.returncode == 1 and "no device is named 'none'" in done.stderr
