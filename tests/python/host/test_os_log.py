"""os_log in kernels, seen from Python."""

import logging
import os
import subprocess
import sys

import numpy

import metalloid

pytest_plugins = "pytester"

SOURCE = """#include <metal_stdlib>
#include <metal_logging>
using namespace metal;
kernel void print(device float* x, uint i [[thread_position_in_grid]]) {
  if (i == 2) os_log_default.log_error("x is %.1f", x[i]);
}
"""


def test_goes_to_logging(caplog):
    metalloid.compile_shader(SOURCE).print(numpy.arange(4, dtype=numpy.float32))
    (record,) = [record for record in caplog.records if record.name == "metalloid"]
    assert record.levelno == logging.ERROR
    assert record.metal == {
        "kernel": "print",
        "thread": (2, 0, 0),
        "file": "program_source",
        "line": 5,
        "text": "x is 2.0",
        "lost": 0,
        "subsystem": "",
        "category": "",
    }


OWN = SOURCE.replace("kernel", 'constant os_log mine("com.example", "kernels");\nkernel').replace("os_log_default", "mine")


def test_a_kernels_own_logger_is_a_child_of_ours(caplog):
    library = metalloid.compile_shader(OWN)
    library.print(numpy.arange(4, dtype=numpy.float32))
    (record,) = caplog.records
    assert record.name == "metalloid.com.example.kernels"
    assert (record.metal["subsystem"], record.metal["category"]) == ("com.example", "kernels")
    assert record.getMessage().endswith("program_source:6: error: [com.example:kernels] x is 2.0")
    # Such loggers can be turned off alone.
    caplog.set_level(logging.CRITICAL, logger="metalloid.com.example")
    caplog.handler.setLevel(logging.NOTSET)  # set_level has set that of caplog as well
    library.print(numpy.arange(4, dtype=numpy.float32))
    metalloid.compile_shader(SOURCE).print(numpy.arange(4, dtype=numpy.float32))
    assert [record.name for record in caplog.records] == ["metalloid.com.example.kernels", "metalloid"]


def test_is_in_the_report_of_a_failed_test(pytester):
    pytester.makepyfile(
        f"""
        import metalloid, numpy
        def test_it():
            metalloid.compile_shader({SOURCE!r}).print(numpy.arange(4, dtype=numpy.float32))
            metalloid.compile_shader({OWN!r}).print(numpy.arange(4, dtype=numpy.float32))
            assert False
        """
    )
    pytester.runpytest().stdout.fnmatch_lines(
        [
            "*kernel 'print', thread (2, 0, 0), program_source:5: error: x is 2.0*",
            "*kernel 'print', thread (2, 0, 0), program_source:6: error: ?com.example:kernels? x is 2.0*",
        ]
    )


def test_goes_to_standard_error_where_no_logging_is_set_up(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f"import metalloid, numpy\nmetalloid.compile_shader({SOURCE!r}).print(numpy.ones(4, 'f'))\n")
    result = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert result.stderr == "kernel 'print', thread (2, 0, 0), program_source:5: error: x is 1.0\n"
    # Closed, or full.
    for redirection in ("2>&-", "2>/dev/full"):
        shell = f"{sys.executable} {program} {redirection}"
        assert subprocess.run(shell, shell=True, env=os.environ).returncode == 0


def test_a_subinterpreter_is_told(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
interpreters.run_string(other, '''
try:
    import metalloid
except ImportError as error:
    assert "subinterpreter" in str(error), error
else:
    raise AssertionError("imported")
''')
import metalloid
assert metalloid.devices()
"""
    )
    subprocess.run([sys.executable, program], check=True)


def test_faulthandler_enabled_later(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        """
import faulthandler, metalloid, numpy
library = metalloid.compile_shader("kernel void crash(device float* x) { *(device float*)(16ul) = 1; }")
x = numpy.zeros(4, "f")
for _ in range(2):
    faulthandler.enable()
    try:
        library.crash(x, threads=1)
        raise SystemExit("no crash")
    except metalloid.Error as error:
        assert error.code == "kernel_crashed"
"""
    )
    subprocess.run([sys.executable, program], check=True)
