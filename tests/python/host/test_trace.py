"""METALLOID_TRACE, metalloid.start_trace and stop_trace."""

import json
import os
import subprocess
import sys

import numpy
import pytest

import metalloid

SOURCE = "kernel void fill(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 7; }"


def spans(path):
    return [event for event in json.loads(path.read_text()) if event["ph"] == "X"]


def test_functions(tmp_path):
    path = tmp_path / "trace.json"
    metalloid.start_trace(path)
    assert metalloid.trace_file() == path
    metalloid.compile_shader(SOURCE).fill(numpy.zeros(4, numpy.float32))
    metalloid.stop_trace()
    assert metalloid.trace_file() is None
    assert [event["cat"] for event in spans(path)] == ["compile", "compile", "dispatch"]
    with pytest.raises(metalloid.Error, match="missing"):
        metalloid.start_trace(str(tmp_path / "missing" / "trace.json"))


PROGRAM = f"""
import metalloid, numpy, os, subprocess, sys
library = metalloid.compile_shader({SOURCE!r})
library.fill(numpy.zeros(4, numpy.float32))
if len(sys.argv) > 1:
    subprocess.run([sys.executable, __file__], check=True)
    if os.fork() == 0:
        library.fill(numpy.zeros(4, numpy.float32))
        os._exit(0)
    os.wait()
    os.abort()
"""


def test_environment_with_children_and_an_abrupt_end(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    path = tmp_path / "trace.json"
    subprocess.run([sys.executable, program, "children"], env={**os.environ, "METALLOID_TRACE": str(path)})
    assert [event["name"] for event in spans(path)][-1] == "fill"
    children = sorted(tmp_path.glob("trace.*.json"))
    assert sorted(len(spans(child)) for child in children) == [1, 3]
