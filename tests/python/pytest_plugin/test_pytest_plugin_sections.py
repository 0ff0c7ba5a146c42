"""What the pytest plugin adds to the reports of failed tests: the kernel, its lines, its generated source."""

import re
import textwrap

import pytest
from test_pytest_plugin import needs_torch, run  # noqa: F401  (run is a fixture)

from metalloid.pytest_plugin.sections import explain

pytest_plugins = "pytester"


def section(result, title):
    """The lines below a section's title, up to the next one."""
    lines = result.stdout.lines
    starts = [number for number, line in enumerate(lines) if title in line and line.startswith("-")]
    assert len(starts) == 1, result.stdout.str()
    below = lines[starts[0] + 1 :]
    ends = [number for number, line in enumerate(below) if line.startswith(("---", "___", "==="))]
    return "\n".join(below[: ends[0]])


def expect(text, expected):
    assert textwrap.dedent(expected).strip("\n") in text, text


def test_compile_error(run):
    result = run('''
        def test():
            metalloid.compile_shader("""// two mistakes
        kernel void first(device float* x, uint i [[thread_position_in_grid]]) {
          x[i] = y[i];
        }
        kernel void second(device float* x) { x[0] = 1 }""")
        ''')
    result.assert_outcomes(failed=1)
    text = section(result, "Metal source program_source does not compile")
    expect(
        text,
        """
        in kernel 'first', 'second'
        program_source
             1 | // two mistakes
             2 | kernel void first(device float* x, uint i [[thread_position_in_grid]]) {
        >    3 |   x[i] = y[i];
               |          ^ use of undeclared identifier 'y'
             4 | }
        >    5 | kernel void second(device float* x) { x[0] = 1 }
               |                                               ^ expected ';' after expression
        """,
    )


def test_compile_error_in_an_included_file(run, pytester):
    (pytester.path / "helper.h").write_text("// shared\nfloat half_of(float x) { return x / two; }\n")
    pytester.makefile(".metal", uses='#include "helper.h"\nkernel void f(device float* x) { x[0] = half_of(x[0]); }')
    result = run("def test(metal_library): metal_library('uses.metal')")
    text = section(result, "uses.metal does not compile")
    assert "helper.h\n     1 | // shared\n>    2 | float half_of(float x) { return x / two; }" in text
    assert "^ use of undeclared identifier 'two'" in text


def test_error_while_a_module_is_imported(run):
    result = run('lib = metalloid.compile_shader("kernel void f(device float* x) { y[0] = 1; }")\ndef test(): pass')
    result.assert_outcomes(errors=1)
    expect(section(result, "does not compile"), ">    1 | kernel void f(device float* x) { y[0] = 1; }")


def test_tracebacks_end_where_the_project_calls(run):
    source = '''
        def test_library():
            metalloid.compile_shader("kernel void f(device float* x) { x[0] = ; }")

        def test_file(metal_library):
            metal_library("missing.metal")

        def test_launch(metal_library):
            metal_library("kernel void f(device float* x) { x[0] = 1; }").f()
        '''
    result = run(source)
    result.assert_outcomes(failed=3)
    places = [line.split(":")[0] for line in result.stdout.lines if re.fullmatch(r"\S+:\d+: \w+Error", line)]
    assert places == ["test_tracebacks_end_where_the_project_calls.py"] * 3, result.stdout.str()
    result.stdout.fnmatch_lines("*no such Metal source: *missing.metal*")
    run(source, "--full-trace").stdout.fnmatch_lines("*_shader.py:*")


def test_crash(run):
    result = run('''
        def test(metal_library):
            lib = metal_library("""
        kernel void fine(device float* x) { x[0] = 1; }
        kernel void far(device float* x, uint i [[thread_position_in_grid]]) {
          ulong distance = 1ul << 44;
          x[i + distance] = 1;
        }
        """)
            x = numpy.zeros(64, numpy.float32)
            lib.fine(x)
            lib.far(x, threads=(8, 2), group_size=(4, 1))
        ''')
    text = section(result, "Metal kernel 'far'")
    expect(text, "kernel 'far' writes outside of argument")
    expect(text, "grid of 8 x 2 x 1 threads, threadgroups of 4 x 1 x 1, on cpu")
    expect(
        text,
        """
             4 |   ulong distance = 1ul << 44;
        >    5 |   x[i + distance] = 1;
               |   ^~~~~~~~~~~~~~~~~~~~
             6 | }
        """,
    )


def test_timeout_and_refused_launch(run):
    result = run('''
        SOURCE = """
        kernel void endless(device uint* x) { while (((volatile device uint*)x)[0] == 0) {} }
        """

        def test_timeout(metal_library):
            metal_library(SOURCE).endless(numpy.zeros(1, numpy.uint32), timeout=0.1)

        def test_launch(metal_library):
            try:
                metal_library(SOURCE).endless(threads=1)
            except metalloid.Error as error:
                raise ValueError("a wrapper of the user") from error
        ''')
    result.assert_outcomes(failed=2)
    text = result.stdout.str()
    assert text.count("- Metal kernel 'endless' -") == 2
    assert text.count(">    2 | kernel void endless") == 2
    assert "was stopped because it ran longer than its timeout of 0.1 s\ngrid of 1 x 1 x 1" in text
    assert "missing buffer binding at index 0 for argument 'x'\ngrid of 1 x 1 x 1" in text


def test_generated_source_of_metal_kernel(run):
    result = run('''
        kernel = metalloid.fast.metal_kernel(
            "shift", ["x"], ["y"], source="uint i = thread_position_in_grid.x;\\ny[i] = x[i + (1ul << 44)];")

        def test():
            x = numpy.zeros(4, numpy.float32)
            kernel(inputs=[x], grid=(4, 1, 1), threadgroup=(4, 1, 1), output_shapes=[(4,)], output_dtypes=["float32"])
        ''')
    text = section(result, "Metal kernel 'custom_kernel_shift")
    assert "[[kernel]] void custom_kernel_shift" in text
    (line,) = [line for line in text.splitlines() if line.startswith(">")]
    assert line.endswith(" | y[i] = x[i + (1ul << 44)];") and f"at program_source:{line.split()[1]}," in text


@needs_torch
def test_verification_error(run):
    result = run('''
        import torch

        def twice(x: torch.Tensor) -> torch.Tensor:
            return 2 * x

        kernel = metalloid.TorchMetalKernel("twice", ["x"], ["y"], "y[i] = 3 * x[i];", twice,
                                            [metalloid.MetalParameter("i", "uint", "thread_position_in_grid")])

        def test():
            kernel(torch.ones(4), threads_per_grid=(4, 1, 1), threads_per_thread_group=(2, 1, 1), result_shapes=[[4]])
        ''')
    text = section(result, "whose results are wrong")
    assert "grid of 4 x 1 x 1 threads, threadgroups of 2 x 1 x 1, on cpu" in text
    assert "[[kernel]] void twice_" in text and "{ y[i] = 3 * x[i]; }" in text.replace("\n       | ", "")


def test_error_that_a_kernel_reported(run):
    result = run('''
        SOURCE = """#include <c10/metal/error.h>
        kernel void check(device float* x, device c10::metal::ErrorMessages* errors,
                          uint i [[thread_position_in_grid]]) {
          if (i == 3) TORCH_REPORT_ERROR(errors, "thread ", i, " is unhappy");
        }
        """

        def test(metal_library):
            metal_library(SOURCE).check(numpy.zeros(8, numpy.float32), error_buf_idx=1)
            metalloid.synchronize()
        ''')
    text = section(result, "Metal kernel 'check' reported an error")
    assert "reported by check at program_source:4, the first of 1\n" in text
    assert ">    4 |   if (i == 3) TORCH_REPORT_ERROR(errors" in text


def test_launches_of_a_test_that_fails_for_other_reasons(run):
    result = run('''
        TWO = """kernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }
        kernel void add(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }"""

        def test_fine(metal_library):
            metal_library(SCALE).scale(numpy.ones(9, numpy.float32))

        def test_wrong(metal_library):
            x = numpy.zeros(4, numpy.float32)
            lib = metal_library(TWO)
            lib.one(x)
            for _ in range(3):
                lib.add(x, group_size=2)
            metal_library(SCALE).scale(x)
            assert x.tolist() == [4] * 4
        ''')
    result.assert_outcomes(passed=1, failed=1)
    text = section(result, "Metal kernels launched")
    expect(
        text,
        """
        one  grid of 4 x 1 x 1 threads, threadgroups of 4 x 1 x 1, on cpu  source 1
        3 x add  grid of 4 x 1 x 1 threads, threadgroups of 2 x 1 x 1, on cpu  source 1
        scale  grid of 4 x 1 x 1 threads, threadgroups of 4 x 1 x 1, on cpu  source 2

        source 1: program_source
        >    1 | kernel void one(
        """,
    )
    expect(text, "source 2: program_source\n>    1 | kernel void scale(")


def test_a_test_without_kernels_has_no_section(run):
    result = run("def test(): metalloid.devices(); assert False")
    result.assert_outcomes(failed=1)
    assert "Metal" not in result.stdout.str().partition("FAILURES")[2]


def test_sources_are_cut(run, pytester):
    pytester.makeini("[pytest]\nmetalloid_source_lines = 5")
    result = run('''
        LONG = "\\n" * 200 + "kernel void late(device float* x) { x[1ul << 44] = 1; }" + "\\n//" * 200

        def test(metal_library):
            metal_library(LONG).late(numpy.zeros(1, numpy.float32))
        ''')
    lines = section(result, "Metal kernel 'late'").splitlines()
    assert sum(" | " in line[:9] for line in lines) == 5 + 1 and lines.count("       ...") == 2  # and the underline
    pytester.makeini("[pytest]\nmetalloid_source_lines = all")
    assert run("").ret == pytest.ExitCode.USAGE_ERROR


def dispatch(kernel, source, error=None, message=""):
    return {
        "kind": "dispatch", "device": "cpu", "kernel": kernel, "source_name": "program_source", "source": source,
        "grid": (1, 1, 1), "group": (1, 1, 1), "grid_counts_threads": True, "error": error, "message": message,
    }  # fmt: skip


def test_many_launches_and_sources_are_cut():
    events = [dispatch(f"k{i}", f"kernel void k{i}() {{}}") for i in range(50)]
    ((_, text),) = explain(AssertionError(), events, 60)
    assert text.startswith("20 launches before, and\nk20  grid of 1 ") and "... and 44 more sources" in text
    assert [line for line in text.splitlines() if line.startswith("source ")] == [
        f"source {number}: program_source" for number in range(45, 51)
    ]


def test_lines_numbered_by_the_source_itself():
    message = "kernel 'k' crashed at program_source:2: SIGSEGV"
    event = dispatch("k", "a\nb\n#line 1\nc\nkernel void k() {", "kernel_crashed", message)
    ((_, text),) = explain(RuntimeError(event["message"]), [event], 60)
    assert ">    2 | kernel void k() {" in text and text.count(">") == 1


def test_long_lines_are_wrapped_with_the_caret_in_its_place():
    message = "program_source:1:301: error: wrong\n"
    event = {**dispatch("", "a" * 300 + "!" + "b" * 9000, "compile_error", message), "kind": "library"}
    ((_, text),) = explain(SyntaxError(message), [event], 60)
    lines = text.splitlines()
    (place,) = [number for number, line in enumerate(lines) if "^ wrong" in line]
    assert lines[place - 1].index("!") == lines[place].index("^") and len(lines) < 30
