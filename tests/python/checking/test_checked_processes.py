"""--check and --metalloid-check: processes that a script starts, threads, exit functions, and files for reports."""

import json
import os
import subprocess
import sys

import pytest
from checked_kernels import header, racy

kernels = f"""
import numpy, metalloid

def race():
    library = metalloid.compile_shader({header + racy!r})
    library.turn(numpy.zeros(64, numpy.float32), numpy.zeros(64, numpy.float32), threads=64, group_size=64)

def fill():
    library = metalloid.compile_shader("kernel void fill(device float* x, uint i [[thread_position_in_grid]]) {{ x[i] = 1; }}")
    library.fill(numpy.zeros(64, numpy.float32), threads=64)
"""
scripts = {
    "subprocess": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import kernels; kernels.race()'], check=True)",
    "grandchild": """
import subprocess, sys
again = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import kernels; kernels.race()'])"
subprocess.run([sys.executable, '-c', again], check=True)""",
    "fork": """
import multiprocessing
kernels.fill()
process = multiprocessing.get_context("fork").Process(target=kernels.race)
process.start(); process.join(); assert process.exitcode == 0""",
    "fork at once": "import os\nif os.fork() == 0:\n    kernels.race()\n    os._exit(0)\nos.wait()",
    "killed": """
import os, signal
if os.fork() == 0:
    kernels.race()
    os.kill(os.getpid(), signal.SIGKILL)
os.wait()""",
    "fork to the end": "import os, sys\nif os.fork() == 0:\n    kernels.race()\n    sys.exit(0)\nos.wait()",
    "spawn": """
import multiprocessing
if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=kernels.race)
    process.start(); process.join(); assert process.exitcode == 0""",
    "pool": """
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.apply(kernels.race)""",
}


def run(tmp_path, script, *options):
    pytest.importorskip("torch")
    (tmp_path / "kernels.py").write_text(kernels)
    (tmp_path / "script.py").write_text("import kernels\n" + script)
    command = [sys.executable, "-m", "metalloid.mps", "--check", *options, "script.py"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=1200)
    assert "Traceback" not in result.stderr, result.stderr
    return result


@pytest.mark.parametrize("script", scripts.values(), ids=scripts)
def test_processes_are_checked(tmp_path, script):
    result = run(tmp_path, script, "--check-json=found.json", "--check-sarif=found.sarif")
    assert result.returncode == 4, result.stderr
    assert result.stderr.count("[threadgroup-race]") == 1 and "in process " in result.stderr
    dispatches = script.count("kernels.fill") + 1
    assert (
        f"1 finding in {dispatches} dispatch{'es' if dispatches > 1 else ''} (1 of them in 1 child process)" in result.stderr
    )
    assert [finding["class"] for finding in json.loads((tmp_path / "found.json").read_text())["findings"]] == ["threadgroup-race"]
    results = [result for run in json.loads((tmp_path / "found.sarif").read_text())["runs"] for result in run["results"]]
    assert len(results) == 1


def test_a_forked_child_does_not_tell_what_its_parent_found(tmp_path):
    script = "import os\nkernels.race()\nif os.fork() == 0:\n    kernels.fill()\n    os._exit(0)\nos.wait()"
    result = run(tmp_path, script)
    assert result.returncode == 4 and result.stderr.count("[threadgroup-race]") == 1
    assert "1 finding in 2 dispatches (1 of them in 1 child process)" in result.stderr


def test_a_child_that_outlives_the_script_tells_itself(tmp_path):
    child = "import time, os, kernels; kernels.fill(); open('begun', 'w').close()\\nfor _ in range(3000):\\n    if os.path.exists('go'): break\\n    time.sleep(0.01)\\nkernels.race()"
    script = f"""
import os, subprocess, sys, time
subprocess.Popen([sys.executable, '-c', '''{child}'''], stdout=subprocess.DEVNULL, stderr=open('child', 'w'))
while not os.path.exists('begun'): time.sleep(0.01)"""
    result = run(tmp_path, script)
    assert result.returncode == 0 and "no findings in 1 dispatch (1 of them in 1 child process)" in result.stderr
    (tmp_path / "go").touch()
    for _ in range(600):
        if "[threadgroup-race]" in (tmp_path / "child").read_text():
            break
        subprocess.run(["sleep", "0.1"])
    assert "[threadgroup-race]" in (tmp_path / "child").read_text()


@pytest.mark.parametrize("script", [
    "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.5), kernels.race())).start()",
    "import atexit\natexit.register(kernels.race)",
], ids=["thread", "atexit"])  # fmt: skip
def test_what_runs_at_the_end_is_checked(tmp_path, script):
    result = run(tmp_path, script)
    assert result.returncode == 4 and "1 finding in 1 dispatch\n" in result.stderr


def test_the_scripts_own_status_stays(tmp_path):
    assert run(tmp_path, "kernels.race()\nraise SystemExit(7)").returncode == 7
    assert run(tmp_path, "kernels.race()\nraise SystemExit(None)").returncode == 4


def test_nothing_checked_is_said(tmp_path):
    result = run(tmp_path, "print('done')")
    assert result.returncode == 0 and "metalloid: no kernel was checked: none ran" in result.stderr


def test_a_script_may_check_itself(tmp_path):
    script = "import metalloid\nwith metalloid.check(raises=False) as own:\n    kernels.race()\nassert own.failed\nkernels.fill()"
    result = run(tmp_path, script)
    assert result.returncode == 0, result.stderr
    assert "no findings in 1 dispatch (besides 1 dispatch in blocks of metalloid.check() of its own)" in result.stderr


@pytest.mark.parametrize("option, file", [("--check-json", "/nonexistent/x.json"), ("--check-sarif", "/tmp")])
def test_files_that_cannot_be_written(tmp_path, option, file):
    result = run(tmp_path, "kernels.race()", f"{option}={file}")
    assert result.returncode == 4 and "[threadgroup-race]" in result.stderr
    assert f"metalloid: {file} could not be written: " in result.stderr
    assert run(tmp_path, "kernels.fill()", f"{option}={file}").returncode == 1


@pytest.mark.parametrize("options, message", [
    (["--check-schedule", "9" * 26], "above 2\\*\\*64 - 1"), (["--check-schedule=\u0663"], "is no whole number"),
    (["--check=1"], "--check takes no value, and '1' is given"), (["--check=no"], "--check takes no value"),
    (["--check-strict=0"], "--check-strict takes no value"),
], ids=str)  # fmt: skip
def test_wrong_options(tmp_path, options, message):
    result = run(tmp_path, "kernels.race()", *options)
    assert result.returncode == 2 and message.replace("\\", "") in result.stderr


def test_a_variable_that_somebody_else_has_set(tmp_path):
    (tmp_path / "kernels.py").write_text(kernels)
    for value in ("1", "yes=1", "folder=/x\nschedule=x", "folder=/x\nonly=rice"):
        result = subprocess.run(
            [sys.executable, "-c", "import kernels; kernels.race(); print('done')"],
            capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "METALLOID_CHECK": value},
        )  # fmt: skip
        assert result.returncode == 0 and result.stdout == "done\n" and result.stderr.count("METALLOID_CHECK has no effect") == 1


def test_the_mlx_runner(tmp_path):
    pytest.importorskip("mlx.core")
    script = """
import mlx.core as mx
kernel = mx.fast.metal_kernel(name="turn", input_names=["x"], output_names=["y"], source='''
    uint i = thread_position_in_threadgroup.x;
    threadgroup float tile[64];
    tile[i] = x[i];
    y[i] = tile[63 - i];
''')
(y,) = kernel(inputs=[mx.ones((64,))], grid=(64, 1, 1), threadgroup=(64, 1, 1), output_shapes=[(64,)], output_dtypes=[mx.float32])
"""
    for end in ("mx.eval(y)", "mx.async_eval(y)"):
        (tmp_path / "script.py").write_text(script + end)
        command = [sys.executable, "-m", "metalloid.mlx", "--check", "script.py"]
        result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=1200)
        assert result.returncode == 4 and "[threadgroup-race]" in result.stderr, result.stderr
        assert "1 finding in 1 dispatch\n" in result.stderr
