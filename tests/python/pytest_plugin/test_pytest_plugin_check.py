"""--metalloid-check: each test runs under the checker."""

import json

pytest_plugins = "pytester"

racy = """
kernel void turn(device const float* x, device float* y, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = x[i];
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  y[i] = tile[63 - i];
}
"""
plugin = ("-p", "metalloid.pytest_plugin")
header = "#include <metal_stdlib>\nusing namespace metal;\n"


def test_pytest_plugin(pytester):
    pytester.makepyfile(
        f"""
        import numpy, pytest, metalloid

        def call(define):
            library = metalloid.compile_shader(define + {header + racy!r})
            library.turn(numpy.zeros(64, numpy.float32), numpy.zeros(64, numpy.float32), threads=64, group_size=64)

        def test_wrong():
            call("")

        def test_right():
            call("#define REPAIRED\\n")

        @pytest.mark.metalloid_check(skip="race")
        def test_skipped():
            call("")

        @pytest.mark.metalloid_check(skip=["race", "misaligned"])
        def test_several_skipped():
            call("")

        def test_own_failure():
            call("")
            assert False, "own"
        """
    )
    result = pytester.runpytest_subprocess(*plugin, "--metalloid-check", "--metalloid-check-sarif=found.sarif")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["*threadgroup-race*", "*own*"])
    assert len(json.loads((pytester.path / "found.sarif").read_text())["runs"]) == 2
    pytester.runpytest_subprocess(*plugin).assert_outcomes(passed=4, failed=1)

    # Each worker finds some.
    together = pytester.runpytest_subprocess(
        *plugin, "--metalloid-check", "--metalloid-check-sarif=together.sarif", "-n2"
    )
    together.assert_outcomes(passed=3, failed=2)
    assert len(json.loads((pytester.path / "together.sarif").read_text())["runs"]) == 2
