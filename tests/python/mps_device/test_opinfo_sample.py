"""Every operator that PyTorch knows, on the device mps: a few of OpInfo's samples against the CPU.

`make test-operators` runs all of them (docs/operators.md). What is known to fail is in tests/expected_operator_failures.yaml.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re

import expected_failures
import operator_workers
import pytest
from conftest import cache_with_device, root

GROUPS = 32
TYPES = ("float32", "float16", "int64")
SAMPLES = 2


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One for all of pytest-xdist's processes: most of the time goes into compiling kernels."""
    if "PYTEST_XDIST_TESTRUNUID" not in os.environ:
        return pathlib.Path(os.environ["METALLOID_CACHE_DIR"])
    shared = tmp_path_factory.getbasetemp().parent / "kernels_of_operators"
    with contextlib.suppress(OSError):  # another process was first
        cache_with_device(tmp_path_factory.mktemp("cache")).rename(shared)
    return shared


@pytest.fixture(scope="module")
def worker(cache):
    worker = operator_workers.Worker({"METALLOID_CACHE_DIR": str(cache)})
    worker.start()
    yield worker
    worker.stop()


@pytest.mark.parametrize("group", range(GROUPS))
def test_operators_agree_with_the_cpu_and_run_the_kernels_that_they_register(worker, group):
    excuses = expected_failures.read()
    wrong, metal, compared = [], 0, 0
    for name, dtypes in list(worker.about["operators"].items())[group::GROUPS]:
        for dtype in [dtype for dtype in TYPES if dtype in dtypes]:
            result = worker.run({"op": name, "dtype": dtype, "samples": SAMPLES, "seconds": 60})
            wrong += expected_failures.unexpected(result, excuses, all_samples=False)
            metal += result.get("metal", 0)
            compared += sum(result["compared"].values())
    assert not wrong, "\n".join(wrong)
    assert compared > 100 and metal > 0


def test_the_page_has_all_registrations(worker):
    page = (root / "docs" / "operators.md").read_text()
    count = int(re.search(r"registered for MPS with Metal kernels .*\| (\d+) \|", page)[1])
    assert count == len(worker.about["own"]), "run make test-operators"
