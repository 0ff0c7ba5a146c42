"""The comparisons of bench/: their arithmetic, their tables and their kernels. Nothing is timed here."""

import json
import re
import shlex
import sys

import pytest
from conftest import root

import metalloid

sys.path.insert(0, str(root / "bench"))

import bench
import measuring
from bench_tables import comparison_table

opencl = sorted((root / "bench" / "opencl" / "kernels").glob("*.metal"))


def test_spread_is_half_of_the_interquartile_range():
    assert measuring.spread([3.0, 1.0, 2.0, 4.0, 5.0]) == measuring.Spread(3.0, 1.0 / 3)
    assert measuring.spread([7.0]) == measuring.Spread(7.0, 0.0)
    assert measuring.ratio([2.0, 6.0, 20.0], [1.0, 2.0, 5.0]).median == 3.0, "round by round"


def test_contenders_take_turns(monkeypatch):
    monkeypatch.setattr(measuring, "QUIET", 0)
    monkeypatch.setattr(measuring, "WARM", 0)
    calls = []

    def contender(name, seconds):
        def run(count):
            calls.append((name, count))
            return seconds

        return run

    times = measuring.measure({"slow": contender("slow", 0.1), "fast": contender("fast", 1e-5)}, seconds=0.8)
    assert times == {"slow": [0.1] * 7, "fast": [1e-5] * 7}
    rounds = [name for name, _ in calls[4:]]
    assert rounds[:4] == ["slow", "fast", "fast", "slow"], "another one begins each round"
    assert ("fast", 100) in calls and ("slow", 1) in calls, "what is short runs for a millisecond"


def test_table_says_what_disturbs():
    row = {"seconds": {"cpu": [1.0, 1.0], "PoCL": [3.0, 3.0], "Intel": [2.0, 2.0]}, "engines": {"cpu": "simd"}, "other_load": 0.0}
    fallen = {**row, "seconds": {**row["seconds"], "Intel": [0.5, 0.5]}, "engines": {"cpu": "reference"}, "other_load": 0.5}
    names = {"cpu": "A", "PoCL": "B", "Intel": "C"}
    kernels = {"one": row, "two": fallen}
    wrong = {"three": {"Intel": "1 of 8 elements"}}
    table = comparison_table({"runtimes": names, "first_engines": {"cpu": "simd"}, "kernels": kernels, "wrong": wrong})
    (one,), (two,), (mean,) = ([line for line in table.splitlines() if start in line] for start in ("`one`", "`two`", "mean"))
    assert "| 3.00 ± 0 % | 2.00 ± 0 % | fastest |" in one
    assert "not the fastest; ran on the engine reference; 50% of the machine was busy otherwise" in two
    assert "| 3.00 | 1.00 |" in mean
    assert "| `three` | | | | | | wrong, Intel: 1 of 8 elements |" in table


@pytest.fixture
def performance_page(tmp_path, monkeypatch):
    """A page with places for two tables, and a comparison that takes no time."""
    page = tmp_path / "performance.md"
    page.write_text("".join(f"{bench.marks[0].format(name)}\nold {name}\n{bench.marks[1].format(name)}\n" for name in ("torch", "opencl")))
    row = {"seconds": {"cpu": [1.0, 1.0], "torch": [3.0, 3.0]}, "engines": {"cpu": "simd"}, "other_load": 0.0}
    result = {"runtimes": {"cpu": "A", "torch": "B"}, "first_engines": {"cpu": "simd"}, "kernels": {"one": row}, "wrong": {}}
    monkeypatch.setattr(bench, "page", page)
    monkeypatch.setattr(bench, "root", tmp_path)
    monkeypatch.setattr(bench, "measure_comparison", lambda *_: result)
    return page


def test_a_run_publishes_its_own_table_alone(performance_page, tmp_path):
    before = performance_page.read_text()
    bench.main(["--build", str(tmp_path), "--against", "torch"])
    assert performance_page.read_text() == before, "only if asked to"
    bench.main(["--build", str(tmp_path), "--against", "torch", "--publish"])
    text = performance_page.read_text()
    assert "old opencl" in text and "old torch" not in text and "| 3.00 ± 0 % | fastest |" in text
    table = (tmp_path / "benchmarks" / "torch.md").read_text()
    assert table in text and re.search(r"^Taken on \d{4}-\d\d-\d\d on .*, \d+ cores\.$", table, re.MULTILINE)
    assert json.loads((tmp_path / "benchmarks" / "torch.json").read_text())["kernels"]["one"]["seconds"]["torch"] == [3.0, 3.0]


@pytest.mark.parametrize("option", [["--kernels", "one"], ["--kernels=one"], ["--devices", "cpu"], ["--without-oclgrind"]])
def test_no_part_of_a_table_is_published(performance_page, tmp_path, capsys, option):
    before = performance_page.read_text()
    with pytest.raises(SystemExit):
        bench.main(["--build", str(tmp_path), "--against", "torch", "--publish", *option])
    assert "a table is published whole" in capsys.readouterr().err
    assert performance_page.read_text() == before


@pytest.mark.parametrize("file", opencl, ids=lambda file: file.stem)
def test_kernels_are_the_same_in_both_languages(file):
    """As far as names and arguments tell; results are compared before anything is timed."""
    kernel = getattr(metalloid.compile_shader(file.read_text()), file.stem)
    twin = file.with_suffix(".cl").read_text()
    (parameters,) = set(re.findall(rf"void\s+{file.stem}\(([^)]*)\)", twin))
    given = [parameter.split()[-1].lstrip("*") for parameter in parameters.split(",")]
    assert [argument["name"] for argument in kernel.arguments if argument["kind"] == "buffer"] == given


def test_examples_that_are_measured_exist():
    for line in (root / "bench" / "examples.txt").read_text().splitlines():
        file, *arguments = shlex.split(line, comments=True) or ("",)
        if not file:
            continue
        source = root / "examples" / "kernels" / file
        names = dir(metalloid.compile_shader(source.read_text(), source_file=source))
        assert arguments[arguments.index("--kernel") + 1] in names if "--kernel" in arguments else len(names) == 1, line
