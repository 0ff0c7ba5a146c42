"""metalloid.check(), the runners' --check and the pytest plugin's --metalloid-check."""

import json
import subprocess
import sys

import numpy
import pytest
from checked_kernels import header, racy

import metalloid
import metalloid.fast


def call(source):
    library = metalloid.compile_shader(header + source)
    x, y = numpy.arange(64, dtype=numpy.float32), numpy.zeros(64, numpy.float32)
    library.turn(x, y, threads=64, group_size=64)
    return y


def test_a_race_is_raised_at_the_end():
    with pytest.raises(metalloid.CheckError, match="threadgroup-race") as caught:
        with metalloid.check():
            call(racy)
    (finding,) = caught.value.findings
    assert finding.kind == "threadgroup-race" and finding.severity == "error" and finding.memory == "tile"
    assert sorted(step["place"]["line"] for step in finding.steps) == [6, 10]
    assert "barrier" in finding.fix and str(finding) in str(caught.value)


def test_what_is_right_is_silent():
    with metalloid.check() as session:
        y = call("#define REPAIRED\n" + racy)
    assert (y == numpy.arange(63, -1, -1)).all()
    assert session.findings == [] and session.dispatches == 1 and not session.failed and session.report() == ""


def test_outputs_without_a_first_value_are_undefined():
    add = metalloid.fast.metal_kernel("add_one", ["x"], ["y"], "y[thread_position_in_grid.x] += x[thread_position_in_grid.x];")
    x = numpy.ones(32, numpy.float32)
    call = dict(inputs=[x], output_shapes=[(32,)], output_dtypes=[numpy.float32], grid=(32, 1, 1), threadgroup=(32, 1, 1))
    with metalloid.check():
        (y,) = add(**call, init_value=1)
    assert (y == 2).all()
    with metalloid.check(raises=False) as session:
        add(**call)
    assert [finding.kind for finding in session.findings] == ["uninitialised"]


def test_findings_without_an_exception():
    with metalloid.check(raises=False) as session:
        call(racy)
    assert session.failed and json.loads(session.json())["findings"] and json.loads(session.sarif())["runs"]


def test_classes_are_chosen():
    with metalloid.check(skip="race"):
        call(racy)
    with metalloid.check(only=["misaligned"]):
        call(racy)
    with metalloid.check(suppress="race:*:10"):
        call(racy)
    with pytest.raises(ValueError, match="no class of findings|named"):
        with metalloid.check(only="rice"):
            pass


def test_an_access_out_of_bounds_is_a_finding_and_writes_nothing():
    library = metalloid.compile_shader("kernel void fill(device float* y, uint i [[thread_position_in_grid]]) { y[i] = 1; }")
    memory = numpy.zeros(128, numpy.float32)
    with metalloid.check(raises=False) as session:
        library.fill(memory[:100], threads=128)
    assert [finding.kind for finding in session.findings] == ["out-of-bounds"]
    assert session.findings[0].element == 100 and session.findings[0].count == 28
    assert memory[:100].all() and not memory[100:].any()


def test_kernels_made_before_are_checked():
    library = metalloid.compile_shader(header + racy)
    x, y = numpy.zeros(64, numpy.float32), numpy.zeros(64, numpy.float32)
    library.turn(x, y, threads=64, group_size=64)
    with pytest.raises(metalloid.CheckError):
        with metalloid.check():
            library.turn(x, y, threads=64, group_size=64)
    library.turn(x, y, threads=64, group_size=64)


def test_metal_kernel_is_checked():
    kernel = metalloid.fast.metal_kernel(
        name="shift", input_names=["x"], output_names=["y"], source="uint i = thread_position_in_grid.x; y[i] = x[i + 1];"
    )
    with pytest.raises(metalloid.CheckError, match="outside of argument 'x'"):
        with metalloid.check():
            kernel(
                inputs=[numpy.ones(32, numpy.float32)], grid=(32, 1, 1), threadgroup=(32, 1, 1),
                output_shapes=[(32,)], output_dtypes=[numpy.float32],
            )  # fmt: skip


def test_the_blocks_own_exception_stays():
    with pytest.raises(KeyError):
        with metalloid.check():
            call(racy)
            raise KeyError("own")


def test_a_block_inside_takes_its_own_findings():
    with metalloid.check() as outer:
        with metalloid.check(raises=False) as inner:
            call(racy)
        with pytest.raises(metalloid.CheckError):
            with metalloid.check():
                call(racy)
    assert inner.failed and inner.dispatches == 1
    assert outer.findings == [] and outer.dispatches == 0 and "besides" not in outer.summary()
    assert outer.summary() == "no kernel was checked, but for 2 dispatches in blocks of metalloid.check() of its own"
    with metalloid.check(raises=False) as outer:
        with metalloid.check():
            call("#define REPAIRED\n" + racy)
        call(racy)
    assert [finding.kind for finding in outer.findings] == ["threadgroup-race"]


@pytest.mark.parametrize("options, kind, message", [
    (dict(schedule=2**70), ValueError, "schedule must be a whole number from 0 to"),
    (dict(schedule=-1), ValueError, "schedule must be a whole number from 0 to"),
    (dict(schedule="1"), TypeError, "schedule must be a whole number, not '1'"),
    (dict(max_findings=1.5), TypeError, "max_findings must be a whole number"),
    (dict(strict="yes"), TypeError, "strict must be True or False, not 'yes'"),
    (dict(only=5), TypeError, "only must be a name or a list of names, not 5"),
    (dict(skip=[None]), TypeError, "skip must be a name or a list of names"),
    (dict(suppress=[3]), TypeError, "suppress must be a name"),
])  # fmt: skip
def test_wrong_arguments_are_named(options, kind, message):
    with pytest.raises(kind, match=message):
        metalloid.check(**options)




@pytest.mark.parametrize("schedule", [0, 5])  # the second is not screened
def test_what_lies_in_front_of_a_pointer_is_its_arrays(schedule):
    kernel = metalloid.fast.metal_kernel(
        "backwards", ["x", "steps"], ["y"], "uint i = thread_position_in_grid.x; y[i] = x[-2 * int(i) - steps];",
        ensure_row_contiguous=False,
    )  # fmt: skip
    x = numpy.arange(20, dtype=numpy.float32)[::-1]

    def run(steps):
        with metalloid.check(raises=False, schedule=schedule) as session:
            (y,) = kernel(
                inputs=[x, steps], grid=(10, 1, 1), threadgroup=(10, 1, 1), output_shapes=[(10,)], output_dtypes=[numpy.float32]
            )
        return y, session.findings

    y, findings = run(0)
    assert findings == [] and (y == x[::2]).all()
    y, findings = run(1)
    assert findings == [] and (y == x[1::2]).all()
    y, (finding,) = run(2)  # the last thread reads in front of it
    assert finding.kind == "out-of-bounds" and finding.memory == "x" and finding.count == 1
    assert finding.element == -20 and finding.byte_offset == -80 and y[9] == 0 and (y[:9] == x[2::2]).all()


script = f"""
import numpy, metalloid
library = metalloid.compile_shader({header + racy!r})
library.turn(numpy.zeros(64, numpy.float32), numpy.zeros(64, numpy.float32), threads=64, group_size=64)
print("done")
"""


@pytest.mark.parametrize("end", ["", "raise SystemExit(0)"])
def test_runner(tmp_path, end):
    pytest.importorskip("torch")
    found = tmp_path / "found.json"
    command = [sys.executable, "-m", "metalloid.mps", "--check", f"--check-json={found}", "-c", script + end]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 4 and result.stdout == "done\n"
    assert "[threadgroup-race]" in result.stderr and "1 finding in 1 dispatch" in result.stderr
    assert json.loads(found.read_text())["findings"][0]["class"] == "threadgroup-race"


@pytest.mark.parametrize("limit, status", [(60, 0), (-1, 0), (2**40, 4)])
def test_runner_with_integers_as_a_mac_gives_them(limit, status):
    pytest.importorskip("torch")
    script = f"""
import torch
source = "kernel void f(device float* x, constant int& n, uint i [[thread_position_in_grid]]) {{ if (int(i) < n) x[i] = 1; }}"
x = torch.zeros(64, device="mps")
torch.mps.compile_shader(source).f(x, {limit}, threads=64)
print(int(x.sum()))
"""
    command = [sys.executable, "-m", "metalloid.mps", "--check", "-c", script]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (status, "60\n" if limit == 60 else "0\n"), result.stderr
    notes = "" if status else "; 1 note"
    said = "1 finding in " if status else "no findings in "
    assert "[argument-width]" in result.stderr and said in result.stderr and result.stderr.endswith(f"dispatches{notes}\n")


def test_runner_refuses_wrong_options():
    pytest.importorskip("torch")
    command = [sys.executable, "-m", "metalloid.mps", "--check-schedule=x", "-c", "pass"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2 and "no whole number" in result.stderr
