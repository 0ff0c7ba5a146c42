"""`metalloid bench`. No test depends on how long something takes."""

import json
import xml.etree.ElementTree

import pytest

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void saxpy(device float* y, device const float* x, constant float& a, uint i [[thread_position_in_grid]]) {
  y[i] += a * x[i];
}
kernel void doubled(device float* y, device const float* x, constant float& a, uint i [[thread_position_in_grid]]) {
  y[i] += 2 * a * x[i];
}
kernel void power(device float* y, constant uint& n, uint i [[thread_position_in_grid]]) {
  float x = y[i];
  for (uint k = 1; k < n; ++k) x *= y[i];
  y[i] = x;
}
"""
ARRAYS = ("--threads", "4096", "--arg", "f32[4096]=ones", "--arg", "f32[4096]=arange", "--arg", "f32:0.5")
SAXPY = ("--kernel", "saxpy", *ARRAYS, "--rounds", "3")


@pytest.fixture
def file(source_file, tmp_path, monkeypatch):
    monkeypatch.setenv("METALLOID_CACHE_DIR", str(tmp_path / "cache"))
    return source_file(SOURCE)


def measured(cli, file, *arguments):
    result = cli("bench", file, *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_reports_time_and_rates(metalloid_cli, file):
    report = measured(metalloid_cli, file, *SAXPY)
    (run,) = report["runs"]
    assert run["kernel"] == "saxpy" and run["device"] == "cpu" and len(run["samples"]) == 3
    assert run["bytes"] == 3 * 4 * 4096  # y is read and written, x is read
    assert run["flops"] == 2 * 4096
    assert run["fastest"] == min(run["samples"]) and run["seconds"] == sorted(run["samples"])[1]
    assert run["bytes_per_second"] == pytest.approx(run["bytes"] / run["seconds"])
    assert run["flops_per_second"] == pytest.approx(run["flops"] / run["seconds"])
    bandwidth = max(run["bandwidth"]["copy_bytes_per_second"], run["bandwidth"]["read_bytes_per_second"])
    assert 0 < bandwidth < 2e12 * report["machine"]["cores"]
    roof = max(run["bytes"] / bandwidth, run["flops"] / report["machine"]["flops_per_second"])
    assert run["roofline_fraction"] == pytest.approx(roof / run["seconds"])
    text = metalloid_cli("bench", file, *SAXPY)
    assert text.returncode == 0 and text.stdout.startswith("saxpy, 4096 threads in threadgroups of 1024; 3 samples of ")
    assert "saxpy on cpu" in text.stdout and "GFLOP/s" in text.stdout and "this machine: " in text.stdout


def test_bytes_and_operations_can_be_given(metalloid_cli, file):
    (run,) = measured(metalloid_cli, file, *SAXPY, "--bytes", "1000", "--flops", "5/thread")["runs"]
    assert run["bytes"] == 1000 and run["flops"] == 5 * 4096 and run["intensity"] == pytest.approx(20.48)
    power = ("--kernel", "power", "--threads", "64", "--arg", "f32[64]=ones", "--arg", "7", "--rounds", "1")
    (run,) = measured(metalloid_cli, file, *power)["runs"]
    assert run["flops"] is None and run["bound_by"] == "memory" and run["bytes"] == 2 * 4 * 64 + 0
    assert "--flops says it" in metalloid_cli("bench", file, *power).stderr
    assert measured(metalloid_cli, file, *power, "--flops", "384")["runs"][0]["flops"] == 384


def test_two_are_compared(metalloid_cli, file, tmp_path):
    other = tmp_path / "other.metal"
    other.write_text(SOURCE.replace("a * x[i]", "x[i] * a"))
    report = measured(metalloid_cli, file, *SAXPY, "--against", other)
    assert [run["file"] for run in report["runs"]] == [str(file), str(other)]
    assert report["ratio"]["median"] > 0 and report["results_differ"] is None
    devices = measured(metalloid_cli, file, *SAXPY, "--against-device", "reference")
    assert [run["device"] for run in devices["runs"]] == ["cpu", "reference"]
    groups = measured(metalloid_cli, file, *SAXPY, "--group", "64", "--against-group", "32")
    assert [run["grid"].split()[-1] for run in groups["runs"]] == ["64", "32"]
    text = metalloid_cli("bench", file, *SAXPY, "--against-kernel", "doubled")
    assert text.returncode == 0 and "doubled on cpu takes " in text.stdout
    assert "their results differ: 'y': 4095 of 4096 elements differ" in text.stdout


def test_every_sample_begins_with_the_input(metalloid_cli, file):
    """Two engines agree after any number of samples, though each run changes y."""
    for rounds in ("1", "4"):
        report = measured(metalloid_cli, file, *SAXPY[:-1], rounds, "--against-device", "reference")
        assert report["results_differ"] is None


def test_says_which_engine_took_the_kernel(metalloid_cli, source_file, monkeypatch):
    """The trial engine, of no release, takes no kernel whose threads meet in functions that call themselves."""
    monkeypatch.setenv("METALLOID_TRIAL_ENGINE", "1")
    file = source_file("""#include <metal_stdlib>
kernel void alone(device float* y) { y[0] = 1; }
float halved(float x) {
  metal::threadgroup_barrier(metal::mem_flags::mem_none);
  return x < 2 ? x : halved(x / 2);
}
kernel void calling(device float* y) {
  y[0] = halved(y[0]);
}
""")
    arguments = ("--threads", "32", "--arg", "f32[1]=ones", "--rounds", "1", "--device", "trial")
    alone = metalloid_cli("bench", file, "--kernel", "alone", *arguments)
    assert alone.returncode == 0 and "ran on the engine" not in alone.stderr
    calling = metalloid_cli("bench", file, "--kernel", "calling", *arguments)
    assert calling.returncode == 0, calling.stderr
    assert f"calling ran on the engine reference, not trial; {file}:" in calling.stderr


def test_draws_a_roofline(metalloid_cli, file, tmp_path):
    picture = tmp_path / "roofline.svg"
    assert metalloid_cli("bench", file, *SAXPY, "--against-device", "reference", "--plot", picture).returncode == 0
    texts = [element.text for element in xml.etree.ElementTree.parse(picture).iter() if element.tag.endswith("text")]
    assert any(text.startswith("saxpy on cpu: ") for text in texts)
    assert any(text.startswith("saxpy on reference: ") for text in texts)
    assert any(text.endswith(" GB/s") for text in texts) and any(text.endswith(" GFLOP/s") for text in texts)


def test_the_machine_alone(metalloid_cli):
    result = metalloid_cli("bench", "--bytes", "65536", "--json")
    assert result.returncode == 0, result.stderr
    limits = json.loads(result.stdout)
    assert limits["cores"] >= 1
    # No core does more: else compilers have dropped what is timed.
    assert 0 < limits["flops_per_second"] < 1e12 * limits["cores"]
    (bandwidth,) = limits["bandwidth"]
    assert bandwidth["copy_bytes_per_second"] > 0 and bandwidth["read_bytes_per_second"] > 0


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (("--kernel", "saxpy"), 2, "--threads is missing"),
        (("--kernel", "saxpi", "--threads", "4"), 3, "saxpy"),
        ((*SAXPY, "--flops", "many"), 2, "--flops many"),
        ((*SAXPY, "--flops", "-1"), 2, "--flops -1"),
        (("--kernel", "saxpy", *ARRAYS, "--rounds", "0"), 2, "--rounds 0"),
        ((*SAXPY, "--against-device", "other"), 3, "other"),
        ((*SAXPY, "--against", "missing.metal"), 2, "missing.metal"),
        ((*SAXPY, "--flops", "0", "--plot", "plot.svg"), 2, "--plot needs"),
        ((*SAXPY, "--plot", "/proc/plot.svg"), 3, "plot.svg"),
    ],
)
def test_wrong_command_lines_are_explained(metalloid_cli, file, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    result = metalloid_cli("bench", file, *arguments)
    assert result.returncode == code, result.stderr
    assert message in result.stderr and result.stdout == ""
    assert not (tmp_path / "plot.svg").exists()
