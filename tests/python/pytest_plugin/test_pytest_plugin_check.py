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


kernels = f"""
import numpy, metalloid

def call(define=""):
    library = metalloid.compile_shader(define + {header + racy!r})
    library.turn(numpy.zeros(64, numpy.float32), numpy.zeros(64, numpy.float32), threads=64, group_size=64)
"""


def test_fixtures_are_checked(pytester):
    pytester.makepyfile(
        kernels=kernels,
        test_fixtures="""
        import pytest, kernels

        @pytest.fixture
        def wrong_set_up():
            kernels.call()

        @pytest.fixture
        def wrong_tear_down():
            yield
            kernels.call()

        @pytest.fixture(scope="module")
        def right():
            kernels.call("#define REPAIRED\\n")

        def test_set_up(wrong_set_up): pass
        def test_tear_down(wrong_tear_down): pass
        def test_right(right): pass

        @pytest.mark.metalloid_check(skip="race")
        def test_marked(wrong_set_up, wrong_tear_down): pass

        @pytest.mark.metalloid_check(schedule="1")
        def test_wrong_mark(right): pass
        """,
    )
    result = pytester.runpytest_subprocess(*plugin, "--metalloid-check")
    result.assert_outcomes(passed=3, errors=2, failed=1)
    result.stdout.fnmatch_lines(["*ERROR at setup of test_set_up*", "*threadgroup-race*", "*ERROR at teardown of test_tear_down*"])
    result.stdout.fnmatch_lines(["*schedule must be a whole number, not '1'*"])
    result.stdout.fnmatch_lines(["metalloid: --metalloid-check: 2 findings in 5 dispatches"])


def test_processes_own_sessions_and_what_is_outside_of_tests(pytester):
    pytester.makepyfile(
        kernels=kernels,
        test_processes="""
        import multiprocessing, subprocess, sys, metalloid, kernels

        def test_subprocess():
            subprocess.run([sys.executable, "-c", "import kernels; kernels.call()"], check=True)

        def test_fork():
            process = multiprocessing.get_context("fork").Process(target=kernels.call)
            process.start()
            process.join()

        def test_right():
            subprocess.run([sys.executable, "-c", "import kernels; kernels.call('#define REPAIRED\\\\n')"], check=True)

        def test_own_session():
            with metalloid.check(raises=False) as session:
                kernels.call()
            assert session.failed
        """,
        conftest="import kernels\ndef pytest_collection_modifyitems(): kernels.call('#define REPAIRED\\n')",
    )
    for options in ((), ("-n2",)):
        result = pytester.runpytest_subprocess(*plugin, "--metalloid-check", *options)
        result.assert_outcomes(passed=2, failed=2)
        outside = 2 if options else 1  # in each worker
        result.stdout.fnmatch_lines([
            f"metalloid: --metalloid-check: 2 findings in {3 + outside} dispatches (3 of them in 3 child processes; "
            "besides 1 dispatch in blocks of metalloid.check() of its own)",
        ])  # fmt: skip
    pytester.makeconftest("import kernels\ndef pytest_collection_modifyitems(): kernels.call()")
    result = pytester.runpytest_subprocess(*plugin, "--metalloid-check", "-k", "right")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*checked: outside of tests*", "*threadgroup-race*"])


def test_options_that_have_no_effect_are_refused(pytester):
    pytester.makepyfile("def test_nothing(): pass")
    for option in ("--metalloid-check-skip=race", "--metalloid-check-sarif=x.sarif"):
        result = pytester.runpytest_subprocess(*plugin, option)
        assert result.ret == 4
        result.stderr.fnmatch_lines(["*has no effect without --metalloid-check*"])
    result = pytester.runpytest_subprocess(*plugin, "--metalloid-check", "--metalloid-check-skip=rice")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--metalloid-check-skip: no class of findings*"])
    result = pytester.runpytest_subprocess(*plugin, "--metalloid-check")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*no kernel was checked: none ran*"])
