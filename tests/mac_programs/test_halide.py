"""Objects that Halide's wheel makes for Metal, against those that it makes for the processor (make test-halide has all)."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).with_name("halide")))
import compare_targets

BUILD = pathlib.Path(os.environ.get("METALLOID_BUILD", compare_targets.ROOT / "build"))


@pytest.mark.parametrize(("name", "device"), [("blur", "cpu"), ("softmax", "reference"), ("summed", "trial")])
def test_a_pipeline(name, device, monkeypatch):
    monkeypatch.setenv("METALLOID_TRIAL_ENGINE", "1")
    monkeypatch.setenv("METALLOID_DEVICE", device)
    most, is_allowed = compare_targets.difference(name, BUILD)
    assert is_allowed, f"{name}: {most}"
