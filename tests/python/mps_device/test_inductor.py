"""torch.compile on the device "mps": TorchInductor's own Metal kernels run on Metalloid and compute what eager mode does.

The functions and models are in inductor/; one process of the runner compiles all that were asked for.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")
HERE = pathlib.Path(__file__).parent / "inductor"
sys.path.insert(0, str(HERE))

import cases  # noqa: E402
import models  # noqa: E402

NAMES = [*cases.CASES, *models.TRAININGS]
FAILURES = {
    "batch_norm_in_training": "Inductor's own bug: each thread of a threadgroup reads a running statistic, and all write "
    "it in place, without an order; the last of threads that run one after the other has updated it many times",
}


@pytest.fixture(scope="module")
def outcomes(request, tmp_path_factory):
    """What became of each name: None, or the text of its error."""
    folder = tmp_path_factory.mktemp("inductor")
    names = {item.callspec.params["name"] for item in request.session.items if item.function is test_agrees_with_eager_mode}
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    command = [sys.executable, "-m", "metalloid.mps", HERE / "compare.py", folder / "results", *sorted(names)]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=800)
    lines = [json.loads(line) for line in (folder / "results").read_text().splitlines()]
    missing = f"the process ended with {finished.returncode} before it:\n{finished.stderr[-4000:]}"
    return dict.fromkeys(names, missing) | {line["name"]: line["error"] for line in lines}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=FAILURES[name])) if name in FAILURES else name
        for name in NAMES
    ],
)
def test_agrees_with_eager_mode(outcomes, name):
    assert outcomes[name] is None, outcomes[name]
