"""`metalloid tune` and `metalloid run --group auto`. No test depends on how long something takes."""

import json

import pytest

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void saxpy(device float* y, device const float* x, constant float& a, uint i [[thread_position_in_grid]]) {
  y[i] += a * x[i];
}
kernel void for_64(device float* x, uint group [[threadgroup_position_in_grid]],
                   uint t [[thread_index_in_threadgroup]]) { x[group * 64 + t] = group; }
kernel void dynamic(device float* out, threadgroup float* shared [[threadgroup(0)]],
                    uint t [[thread_index_in_threadgroup]]) { shared[t] = 1; out[t] = shared[t]; }
"""
SAXPY = ("--kernel", "saxpy", "--threads", "4096", "--arg", "f32[4096]=ones", "--arg", "f32[4096]=arange", "--arg", "f32:0.5")


@pytest.fixture
def file(source_file, tmp_path, monkeypatch):
    monkeypatch.setenv("METALLOID_CACHE_DIR", str(tmp_path / "cache"))
    return source_file(SOURCE)


def test_shows_what_it_tried_and_what_it_chose(metalloid_cli, file):
    result = metalloid_cli("tune", file, *SAXPY, "--rounds", "2")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("saxpy, 4096 threads; ")
    assert [line.split()[0] for line in lines[2:8]] == ["32", "64", "128", "256", "512", "1024"]
    assert sum("  chosen" in line for line in lines[2:]) == 1
    assert lines[8].startswith("saxpy: ") and "threads per threadgroup" in lines[8]
    again = metalloid_cli("tune", file, *SAXPY)
    assert again.stdout == result.stdout.replace(lines[8], lines[8] + " (cached)")
    assert "(cached)" not in metalloid_cli("tune", file, *SAXPY, "--rounds", "1", "--force").stdout


def test_json_and_given_sizes(metalloid_cli, file):
    result = metalloid_cli("tune", file, *SAXPY, "--groups", "128,64,16x2,2000", "--rounds", "3", "--json")
    assert result.returncode == 0, result.stderr
    tuned = json.loads(result.stdout)
    assert tuned["kernel"] == "saxpy" and tuned["threads"] == [4096, 1, 1] and tuned["from_cache"] is False
    assert [trial["group"] for trial in tuned["trials"]] == [[128, 1, 1], [64, 1, 1], [16, 2, 1], [2000, 1, 1]]
    assert tuned["trials"][0]["runs"] == 3 and tuned["trials"][0]["seconds"] > 0
    assert tuned["trials"][3]["outcome"] == "failed" and "1024" in tuned["trials"][3]["note"]
    assert tuned["best"] in ([128, 1, 1], [64, 1, 1], [16, 2, 1])


def test_run_takes_the_tuned_size(metalloid_cli, file):
    result = metalloid_cli("run", file, *SAXPY, "--group", "auto", "--print", "y")
    assert result.returncode == 0, result.stderr
    assert "2047.5   2048 2048.5]" in result.stdout
    assert "saxpy: " in result.stderr and "threads per threadgroup" in result.stderr
    best = json.loads(metalloid_cli("tune", file, *SAXPY, "--json").stdout)
    assert best["from_cache"] is True
    again = metalloid_cli("run", file, *SAXPY, "--group", "auto", "--print", "y")
    assert "(cached)" in again.stderr and f"threadgroups of {best['best'][0]};" in again.stderr


def test_run_takes_what_was_tuned_with_other_options(metalloid_cli, file):
    metalloid_cli("tune", file, *SAXPY, "--group", "96", "--groups", "96", "--rounds", "1")
    result = metalloid_cli("run", file, *SAXPY, "--group", "auto", "--print", "y")
    assert "96 threads per threadgroup is the only size (cached)" in result.stderr, result.stderr


def test_list_and_clear(metalloid_cli, file):
    assert metalloid_cli("tune", "--list").stdout == ""
    metalloid_cli("tune", file, *SAXPY, "--rounds", "1")
    heads, line = metalloid_cli("tune", "--list").stdout.splitlines()
    assert heads.split() == ["when", "kernel", "best", "grid", "arguments", "device"]
    assert heads.index("grid") == line.index("4096 threads")
    assert metalloid_cli("tune", "--list", "--kernel", "other").stdout == ""
    assert "saxpy" in line and "4096 threads" in line and "y f32[4096], x f32[4096], a float" in line
    (entry,) = json.loads(metalloid_cli("tune", "--list", "--json").stdout)
    assert entry["kernel"] == "saxpy" and len(entry["trials"]) == 6
    assert "1 tuning forgotten" in metalloid_cli("tune", "--clear").stderr
    assert json.loads(metalloid_cli("tune", "--list", "--json").stdout) == []


def test_sizes_with_other_results_are_not_chosen(metalloid_cli, file):
    arguments = ("tune", file, "--kernel", "for_64", "--threadgroups", "4", "--arg", "f32[256]=zeros", "--rounds", "1")
    unnamed = metalloid_cli(*arguments)
    assert unnamed.returncode == 3 and "depend on the threadgroup size" in unnamed.stderr and unnamed.stdout == ""
    named = metalloid_cli(*arguments, "--group", "64")
    assert named.returncode == 0, named.stderr
    assert "for_64: 64 threads per threadgroup is the only size with its results" in named.stdout
    assert "different results" in named.stdout and "writes outside of argument 'x'" in named.stdout
    assert metalloid_cli(*arguments, "--no-compare", "--groups", "32,64").returncode == 0


def test_threadgroup_memory_for_each_thread(metalloid_cli, file):
    arguments = (file, "--kernel", "dynamic", "--threadgroups", "1", "--arg", "f32[1024]=zeros", "--threadgroup-memory", "0=64/thread")
    tuned = metalloid_cli("tune", *arguments, "--no-compare", "--rounds", "1")
    assert "65536 bytes of threadgroup memory" in tuned.stdout
    assert metalloid_cli("run", *arguments, "--group", "512").returncode == 0
    assert metalloid_cli("run", *arguments, "--group", "1024").returncode == 3


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (("--threads", "4"), 2, "--kernel is missing"),
        (("--kernel", "saxpy"), 2, "--threads is missing"),
        (("--kernel", "saxpy", "--threads", "4", "--threadgroups", "4"), 2, "--threadgroups"),
        (("--kernel", "saxpy", "--threads", "4", "--groups", "32,many"), 2, "--groups many"),
        (("--kernel", "saxpy", "--threads", "4", "--group", "auto"), 2, "not auto"),
        (("--kernel", "saxpy", "--threads", "4", "--margin", "-1"), 2, "--margin"),
        (("--kernel", "saxpi", "--threads", "4"), 3, "saxpy"),
        (("--kernel", "saxpy", "--threads", "4"), 3, "missing buffer binding at index 0"),
        (("--kernel", "saxpy", "--threads", "4", "--groups", "2000", *SAXPY[4:]), 3, "limit of 1024"),
    ],
)
def test_wrong_command_lines_are_explained(metalloid_cli, file, arguments, code, message):
    result = metalloid_cli("tune", file, *arguments)
    assert result.returncode == code, result.stderr
    assert message in result.stderr and result.stdout == ""


def test_a_missing_file(metalloid_cli):
    result = metalloid_cli("tune", "--kernel", "saxpy", "--threads", "4")
    assert result.returncode == 2 and "FILE is missing" in result.stderr
