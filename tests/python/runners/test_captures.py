"""torch.mps.profiler and mx.metal captures under the runners: traces in Chrome's format."""

import json
import os
import subprocess
import sys

import pytest
import torch_processes

TORCH = """
import torch
lib = torch.mps.compile_shader("kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }")
x = torch.ones(4, device="mps")
lib.twice(x)  # not in the trace
lib.twice  # is compiled now
"""
MLX = """
import mlx.core as mx
kernel = mx.fast.metal_kernel(name="twice", source="uint i = thread_position_in_grid.x; y[i] = x[i] * 2;")
def call():
    shape = (4,)
    mx.eval(kernel(inputs={"x": mx.ones(shape)}, output_shapes={"y": shape}, output_dtypes={"y": mx.float32},
                   grid=(4, 1, 1), threadgroup=(4, 1, 1))["y"])
call()
"""


def run(tmp_path, runner, code, **environment):
    arguments, environment = ["-m", f"metalloid.{runner}", "-c", code], {**os.environ, **environment}
    if runner == "mps":
        result = torch_processes.run(arguments, tmp_path, environment)
    else:
        command = [sys.executable, *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=1200, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    return result


def dispatches(file):
    events = json.loads(file.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    return [event for event in events if "twice" in json.dumps(event) and event.get("ph") in ("X", "B")]


@pytest.mark.parametrize("code, names", [
    ("torch.mps.profiler.start(); lib.twice(x); lib.twice(x); torch.mps.profiler.stop(); lib.twice(x)", ["metalloid-trace"]),
    ("with torch.mps.profiler.profile(mode='interval', wait_until_completed=False): lib.twice(x); lib.twice(x)",
     ["metalloid-trace"]),
    ("with torch.mps.profiler.metal_capture('mine'): lib.twice(x); lib.twice(x)", ["mine"]),
    ("for _ in range(2):\n  with torch.mps.profiler.profile(): lib.twice(x); lib.twice(x)",
     ["metalloid-trace", "metalloid-trace-2"]),
])  # fmt: skip
def test_torch(tmp_path, code, names):
    pytest.importorskip("torch")
    result = run(tmp_path, "mps", TORCH + code)
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.json" for name in names}
    for name in names:
        assert len(dispatches(tmp_path / f"{name}.json")) == 2
        assert f"{name}.json" in result.stderr


def test_torch_answers():
    pytest.importorskip("torch")
    code = "import torch\nprint(torch.mps.profiler.is_metal_capture_enabled(), torch.mps.profiler.is_capturing_metal())"
    result = subprocess.run([sys.executable, "-m", "metalloid.mps", "-c", code], capture_output=True, text=True)
    assert result.stdout == "True False\n"


@pytest.mark.parametrize("name, file", [("t.gputrace", "t.gputrace.json"), ("t.json", "t.json")])
def test_mlx(tmp_path, name, file):
    pytest.importorskip("mlx.core")
    run(tmp_path, "mlx", MLX + f"mx.metal.start_capture({name!r})\ncall()\ncall()\nmx.metal.stop_capture()\ncall()")
    assert len(dispatches(tmp_path / file)) == 2


def test_a_trace_of_the_whole_process_goes_on(tmp_path):
    pytest.importorskip("torch")
    trace = tmp_path / "all.json"
    run(tmp_path, "mps", TORCH + "with torch.mps.profiler.profile(): lib.twice(x)\nlib.twice(x)", METALLOID_TRACE=str(trace))
    assert list(tmp_path.iterdir()) == [trace]
    assert len(dispatches(trace)) >= 3
