"""The kernels of bench/large at their least sizes against their oracles, and their table. Nothing is timed here."""

import sys

import pytest
from conftest import root

sys.path.insert(0, str(root / "bench"))

from bench_tables import large_table
from case import MetalDevice, difference
from large.cases import CASES, here, make_small_case


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("name", CASES)
def test_kernels_compute_what_the_oracles_do(name, device):
    runtime = MetalDevice(device, make_small_case)
    runtime.prepare(name)()
    case = make_small_case(name)
    for result, expected in zip(runtime.results(), case.expected(), strict=True):
        assert difference(case, result.ravel(), expected.ravel()) is None


def test_all_kernels_are_measured():
    assert sorted(CASES) == sorted(file.stem for file in here.glob("*.metal"))


def test_table():
    row = {"seconds": {"cpu": [1.0, 1.0], "reference": [4.0, 4.0]}, "engines": {"cpu": "simd", "reference": "reference"}}
    one = {**row, "compile_seconds": [3.0, 1.0, 2.0], "other_load": 0.0}
    two = {**one, "engines": {"cpu": "reference"}, "seconds": {"cpu": [1.0], "reference": [1.0]}, "other_load": 0.5}
    wrong = {"three": {"cpu": "ended at ('time', 1)"}}
    result = {"runtimes": {"cpu": "A", "reference": "B"}, "kernels": {"one": one, "two": two}, "wrong": wrong}
    assert large_table(result).splitlines()[2:6] == [
        "| `one` | simd | 2.00 s | 1000.00 ms ± 0 % | 4000.00 ms ± 0 % | 4.00 ± 0 % |  |",
        "| `two` | reference | 2.00 s | 1000.00 ms ± 0 % | 1000.00 ms ± 0 % | 1.00 ± 0 % | 50% of the machine was busy otherwise |",
        "| `three` | | | | | | wrong, cpu: ended at ('time', 1) |",
        "| geometric mean | | | | | 2.00 | |",
    ]
    assert "geometric mean" not in large_table({**result, "kernels": {}}), "if nothing could be measured"
