"""Every operator that PyTorch knows, on the device mps: a few of OpInfo's samples against the CPU.

By turns they are in float32, where one of them comes in all layouts, or in one of the other types, in one layout: each takes
kernels to compile. `make test-operators` runs all of them (docs/operators.md). What is known to fail is in
tests/expected_operator_failures.yaml.
"""

from __future__ import annotations

import re

import expected_failures
import operator_layouts
import operator_workers
import pytest
from conftest import root

GROUPS = 32
FIRST, OTHERS = "float32", ("float16", "int64")
SAMPLES = 2


@pytest.fixture(scope="module")
def worker():
    worker = operator_workers.Worker()
    worker.start()
    yield worker
    worker.stop()


def type_of(number, dtypes):
    """The one in which an operator is tried, if it has any of them."""
    others = [dtype for dtype in OTHERS if dtype in dtypes]
    if FIRST in dtypes and (number % 2 == 0 or not others):
        return FIRST
    return others[number // 2 % len(others)] if others else None


@pytest.mark.parametrize("group", range(GROUPS))
def test_operators_agree_with_the_cpu_and_run_the_kernels_that_they_register(worker, group):
    excuses = expected_failures.read()
    wrong, metal, compared = [], 0, 0
    for number, (name, dtypes) in enumerate(list(worker.about["operators"].items())[group::GROUPS]):
        dtype = type_of(number, dtypes)
        if dtype is None:
            continue
        job = {"op": name, "dtype": dtype, "samples": SAMPLES, "seconds": 60}
        result = worker.run(job if dtype == FIRST else {**job, "layouts": [operator_layouts.STEPPED]})
        wrong += expected_failures.unexpected(result, excuses, all_samples=False)
        metal += result.get("metal", 0)
        compared += sum(result["compared"].values())
    assert not wrong, "\n".join(wrong)
    assert compared > 50 and metal > 0


def test_the_page_has_all_registrations(worker):
    page = (root / "docs" / "operators.md").read_text()
    count = int(re.search(r"registered for MPS with Metal kernels .*\| (\d+) \|", page)[1])
    assert count == len(worker.about["own"]), "run make test-operators OPTIONS=--publish"
