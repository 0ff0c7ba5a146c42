"""ggml's own comparison of its Metal back end with its CPU back end: some cases of some operators (make test-ggml has all)."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).with_name("ggml")))
import build as building
import compare_backends

BUILD = pathlib.Path(os.environ.get("METALLOID_BUILD", building.ROOT / "build"))
OPERATORS = ["ADD", "MUL_MAT", "SOFT_MAX", "RMS_NORM", "ROPE", "CPY", "ARGSORT", "SSM_CONV"]


@pytest.fixture(scope="module")
def program():
    return building.operator_tests(BUILD)


def test_nothing_stays_behind_graphs():
    done = subprocess.run([building.many_graphs(BUILD), "100"], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "METALLOID_DEVICE": "cpu"})  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "100 graphs, 0 more objects, error small\n"), done.stderr[-2000:]


@pytest.mark.parametrize(("device", "names", "each"), [
    ("cpu", OPERATORS, 3), ("reference", ["RMS_NORM", "GET_ROWS"], 1), ("trial", ["MUL", "SUM_ROWS"], 1),
])  # fmt: skip
def test_operators(program, device, names, each):
    environment = {**os.environ, "METALLOID_TRIAL_ENGINE": "1", "METALLOID_DEVICE": device}
    found, wrong = compare_backends.operators(program, each, names, environment)
    assert set(found) == set(names) and not wrong
