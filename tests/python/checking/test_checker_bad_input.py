"""Kernels that are as wrong as can be, and hosts that do much at once: the process goes on, and reports have an end."""

import ctypes
import mmap
import os
import threading

import numpy
import pytest
from checked_kernels import header, racy

import metalloid


def right_after():
    library = metalloid.compile_shader("kernel void fill(device int* y, uint i [[thread_position_in_grid]]) { y[i] = 7; }")
    y = numpy.zeros(64, numpy.int32)
    library.fill(y, threads=64)
    return (y == 7).all()


def test_two_hundred_threads():
    library = metalloid.compile_shader(header + racy)
    failures = []

    def work():
        try:
            for _ in range(3):
                library.turn(numpy.zeros(64, numpy.float32), numpy.zeros(64, numpy.float32), threads=64, group_size=64)
        except Exception as error:
            failures.append(error)

    with metalloid.check(raises=False) as session:
        threads = [threading.Thread(target=work) for _ in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures and session.dispatches == 600
    (finding,) = session.findings
    assert finding.kind == "threadgroup-race" and finding.count == 600 * 64


def test_threads_that_begin_and_end_sessions():
    library = metalloid.compile_shader(header + racy)

    def work():
        for _ in range(5):
            with metalloid.check(raises=False):
                library.turn(numpy.zeros(64, numpy.float32), numpy.zeros(64, numpy.float32), threads=64, group_size=64)

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not metalloid._core.is_checking() and right_after()


def test_fork_inside_of_a_session():
    library = metalloid.compile_shader(header + racy)

    def run():
        library.turn(numpy.zeros(64, numpy.float32), numpy.zeros(64, numpy.float32), threads=64, group_size=64)

    with metalloid.check(raises=False) as session:
        run()
        child = os.fork()
        if child == 0:
            run()
            os._exit(10 + session.findings[0].count // 64)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 12  # its copy has the parent's, too
    assert session.findings[0].count == 64 and session.dispatches == 1


def resident_bytes():
    return int(open("/proc/self/statm").read().split()[1]) * mmap.PAGESIZE


def most_resident_bytes():
    (line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


@pytest.mark.parametrize("wrong", [False, True])
def test_large_buffers_of_which_little_is_used(wrong):
    library = metalloid.compile_shader(
        header + "kernel void touch(device float* x, device const uchar* y, constant ulong& last, uint i [[thread_position_in_grid]]) {"
        "  x[i * 10000000ul] = y[i] + 1;"
        "  if (i == 63) x[last] = 5; }"
    )
    x, y = numpy.empty(750_000_000, numpy.float32), numpy.empty(3_000_000_000, numpy.uint8)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # most_resident_bytes begins anew
    before = resident_bytes()
    with metalloid.check(raises=False) as session:
        library.touch(x, y, x.size if wrong else x.size - 1, threads=64)
    assert [finding.kind for finding in session.findings] == (["out-of-bounds"] if wrong else [])
    assert x[10_000_000] == 1 and (wrong or x[-1] == 5)
    # What it touches, and shadows of that, in large pages.
    assert most_resident_bytes() - before < 1_500_000_000


def test_a_race_with_every_access():
    lines = "\n".join(f"x[(i * {k + 3}) % 16] += t[(i + {k}) % 8]; t[i % {k % 7 + 1}] = x[{k % 16}];" for k in range(24))
    library = metalloid.compile_shader(
        header + f"kernel void wild(device float* x, uint i [[thread_position_in_grid]]) {{ threadgroup float t[8];\n{lines}\n}}"
    )
    for most in (0, 1, 7):
        with metalloid.check(raises=False, max_findings=most) as session:
            library.wild(numpy.zeros(16, numpy.float32), threads=256, group_size=64)
        assert len(session.findings) == most
        assert len(session.report()) < 1000 * (most + 1) and "more findings" in session.report()
        assert not most or session.failed
    with metalloid.check(raises=False) as session:
        library.wild(numpy.zeros(16, numpy.float32), threads=256, group_size=64)
    assert len(session.findings) == 100 and len(session.report()) < 200_000


def test_recursion():
    source = (
        "int down(int n, device int* y) { y[0] += 1; return n == 0 ? 0 : 1 + down(n - 1, y); }"
        "kernel void deep(device int* y, constant int& n) { y[0] = down(n, y); }"
    )
    with metalloid.check(raises=False) as session:
        try:
            metalloid.compile_shader(header + source).deep(numpy.zeros(1, numpy.int32), 10_000_000, threads=1)
        except (RuntimeError, SyntaxError) as error:
            assert "recurs" in str(error) or "stack" in str(error)
    assert session.findings == [] or len(session.report()) < 10_000
    assert right_after()


page = mmap.mmap(-1, 3 * mmap.PAGESIZE, prot=mmap.PROT_READ)
addresses = {
    "null": 0, "small": 8, "odd": 13, "high": 2**64 - 8, "not canonical": 0xDEAD_BEEF_DEAD_BEEF, "kernel": 0xFFFF_8000_0000_0000,
    "unmapped": 0x10_0000, "code": ctypes.cast(ctypes.CDLL(None).strlen, ctypes.c_void_p).value,
    "read-only": numpy.frombuffer(page, numpy.uint8).__array_interface__["data"][0],
}  # fmt: skip


@pytest.mark.parametrize("address", addresses.values(), ids=addresses)
@pytest.mark.parametrize("does", ["sink[i] = p[i];", "p[i] = 1;", "p[i] += 1;", "atomic_fetch_add_explicit((device atomic_uint*)p, 1u, memory_order_relaxed);"])
@pytest.mark.parametrize("schedule", [0, 1])
def test_wild_pointers(address, does, schedule):
    library = metalloid.compile_shader(
        header + "struct Arguments { ulong pointer; };\n"
        "kernel void wild(device const Arguments& arguments, device uint* sink, uint i [[thread_position_in_grid]]) {"
        f"  device uint* p = (device uint*)arguments.pointer; {does} }}"
    )
    with metalloid.check(raises=False, schedule=schedule) as session:
        try:
            library.wild(numpy.array([address], numpy.uint64), numpy.zeros(64, numpy.uint32), threads=64)
        except RuntimeError as error:
            assert len(str(error)) < 2000
        else:
            is_readable = does.startswith("sink") and address in (addresses["code"], addresses["read-only"])
            assert session.failed or is_readable
    assert len(session.findings) < 5 and len(session.report()) < 5000
    assert right_after()
