"""Kernels that crash, never end or are interrupted: the process gets an exception and lives on."""

import _thread
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy
import pytest

import metalloid
from metalloid import fast

HEADER = "#include <metal_stdlib>\nusing namespace metal;\n"


def kernel_of(body, before=""):
    """The body is at line 5."""
    return metalloid.compile_shader(
        HEADER + before + "\nkernel void bad(device volatile uint* y, uint i [[thread_position_in_threadgroup]]) {\n"
        f"{body}\n}}"
    ).bad


RECURSION = "uint f(uint n) { volatile uint a[64]; a[n % 64] = n; BARRIER; return n == 0 ? 0 : f(n + 1) + a[n % 64]; }"
BARRIER = "threadgroup_barrier(mem_flags::mem_none)"


@pytest.mark.parametrize(
    "body, before, message",
    [
        ("device uint* p = nullptr; *p = i;", "", "program_source:5: SIGSEGV"),
        ("y[0] = f(y[1] + 1);", RECURSION.replace("BARRIER", ""), "stack overflowed"),
        ("y[0] = f(y[1] + 1);", RECURSION.replace("BARRIER", BARRIER), "stack overflowed"),
        ("__builtin_trap();", "", "program_source:5: SIGILL"),
    ],
    ids=["null", "recursion", "recursion with barriers", "trap"],
)
def test_crashes_name_the_kernel_and_the_line(body, before, message):
    y = numpy.zeros(64, numpy.uint32)
    with pytest.raises(metalloid.Error, match="kernel 'bad' crashed at program_source:\\d+: .*") as caught:
        kernel_of(body, before)(y, threads=4)
    assert caught.value.code == "kernel_crashed"
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "body, message",
    [
        ("y[i + 1] = 1;", "writes outside of argument 'y' (buffer 0): element 64 of 64 (bytes 256 to 259 of 256)"),
        ("y[1ul << 40] = 1;", "writes outside of argument 'y' (buffer 0): element 1099511627776 of 64"),
        ("((device volatile ulong*)y)[31 + i] = 1;", "argument 'y' (buffer 0): element 64 of 64 (bytes 256 to 263 of 256)"),
        (f"threadgroup uint t[60]; t[i] = 1; {BARRIER}; y[0] = t[0];", "the threadgroup's variable 't': element 60 of 60"),
        ("uint a[60]; for (uint k = 0; k < 60; ++k) a[k] = y[k]; y[i] = a[i];", "a thread's variable 'a': element 60 of 60"),
    ],
    ids=["behind", "far", "wider", "threadgroup", "own"],
)  # fmt: skip
@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_accesses_outside_are_not_carried_out(body, message, device):
    """A grid in whole threadgroups, as Metal's dispatchThreadgroups makes it, without a check of the index."""
    memory = numpy.zeros(3 * 64, numpy.uint32)
    source = HEADER + f"\nkernel void bad(device volatile uint* y, uint i [[thread_position_in_grid]]) {{\n{body}\n}}"
    kernel = metalloid.compile_shader(source, device=device).bad
    with pytest.raises(metalloid.Error, match="kernel 'bad' (reads|writes) outside of ") as caught:
        kernel(memory[64:128], threads=64, group_size=64)
    assert caught.value.code == "out_of_bounds"
    assert message in str(caught.value) and "program_source:5, thread (" in str(caught.value)
    assert not memory[:64].any() and not memory[128:].any()


@pytest.mark.parametrize(
    "body",
    ["while (true) y[0] += 1;", "for (;;);", f"while (true) {{ y[0] += 1; {BARRIER}; }}",
     "while (true) y[0] += simd_sum(i);"],
    ids=["writes", "empty", "barriers", "simdgroups"],
)  # fmt: skip
def test_endless_kernels_are_stopped(body):
    y = numpy.zeros(64, numpy.uint32)
    with pytest.raises(metalloid.Error, match="kernel 'bad' was stopped because it ran longer than its timeout of 0.2"):
        kernel_of(body)(y, threads=64, timeout=0.2)


@pytest.mark.parametrize("condition", ["if (i < 7)", "for (uint j = 0; j < i; ++j)"])
def test_barriers_that_not_all_threads_reach_end(condition):
    y = numpy.zeros(64, numpy.uint32)
    kernel_of(f"{condition} {BARRIER}; y[i] = 1;")(y, threads=64, timeout=20)
    assert y.all()


def test_integer_division_never_traps():
    y = numpy.zeros(64, numpy.uint32)
    kernel_of("int low = int(y[9]) - 2147483647 - 1; y[0] = i / y[9]; y[1] = uint(low / int(y[9] - 1)); y[2] = 7;")(
        y, threads=4
    )
    assert y[2] == 7


def test_variables_beyond_all_memory():
    y = numpy.zeros(64, numpy.uint32)
    with pytest.raises(metalloid.Error, match="kernel 'bad' has too many variables"):
        kernel_of("volatile uint a[1 << 30]; a[i] = 1; y[0] = a[i];")(y, threads=4)


def interrupt_when(runs):
    """Sends Ctrl-C to the main thread as soon as a kernel has changed the array, or, if it works on a copy, after a while."""
    main, before, last = threading.main_thread().ident, runs.copy(), time.monotonic() + 3

    def watch():
        while (runs == before).all() and time.monotonic() < last:
            time.sleep(0.001)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=watch, daemon=True).start()


@pytest.mark.parametrize("body", ["while (true) y[0] += 1;", f"while (true) {{ y[0] += 1; {BARRIER}; }}"])
def test_control_c_stops_a_kernel(body):
    bad, y = kernel_of(body), numpy.zeros(64, numpy.uint32)
    for threads in (64, 4096):
        interrupt_when(y)
        with pytest.raises(KeyboardInterrupt):
            bad(y, threads=threads, group_size=64, timeout=0)
    kernel_of("y[i] = 5;")(y, threads=4)
    assert y[3] == 5


def test_control_c_stops_metal_kernel():
    endless = fast.metal_kernel(
        name="endless", input_names=[], output_names=["y"], source="device volatile float* p = y; while (true) p[0] += 1;"
    )
    main = threading.main_thread().ident
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()  # at whatever point it is then
        endless(inputs=[], output_shapes=[(4,)], output_dtypes=[numpy.float32], grid=(4, 1, 1), threadgroup=(1, 1, 1))


def test_a_handler_of_ones_own_runs_and_stays():
    calls = []
    previous = signal.signal(signal.SIGINT, lambda *arguments: calls.append(1))
    try:
        bad, y = kernel_of("while (true) y[0] += 1;"), numpy.zeros(64, numpy.uint32)
        interrupt_when(y)
        with pytest.raises(metalloid.Error, match="kernel 'bad' was interrupted") as caught:
            bad(y, threads=4, timeout=0)
        assert caught.value.code == "kernel_interrupted"
        assert calls == [1]
        signal.raise_signal(signal.SIGINT)
        assert calls == [1, 1]
    finally:
        signal.signal(signal.SIGINT, previous)


def test_an_interrupt_before_the_call_is_not_lost():
    bad = kernel_of("while (true) y[0] += 1;")
    with pytest.raises(KeyboardInterrupt):
        _thread.interrupt_main()
        bad(numpy.zeros(64, numpy.uint32), threads=4, timeout=30)


@pytest.mark.host_memory
def test_a_process_that_ignores_control_c_goes_on():
    script = textwrap.dedent("""
        import os, signal, threading, time, numpy, metalloid
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        f = metalloid.compile_shader("kernel void f(device volatile uint* y) { while (y[0] == 0) y[1] += 1; }").f
        y = numpy.zeros(2, numpy.uint32)
        def act():
            while y[1] == 0:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            y[0] = 1
        threading.Thread(target=act).start()
        f(y, threads=1, timeout=60)
        print("went on")
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=1200)
    assert done.stdout == "went on\n", done.stderr


def test_good_kernels_beside_bad_ones():
    """Several threads compile, run and crash at once."""
    good, failures = kernel_of("y[i] = i;"), []

    def work(number):
        try:
            for turn in range(20):
                y = numpy.zeros(64, numpy.uint32)
                good(y, threads=64)
                assert (y == numpy.arange(64)).all()
                if turn % 10 == 0:
                    with pytest.raises(metalloid.Error, match="crashed"):
                        kernel_of(f"device uint* p = nullptr; *p = {number * 100 + turn};")(y, threads=4)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
