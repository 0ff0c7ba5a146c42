"""Processes that fork, or end, while threads compile and run kernels."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy
import pytest

import metalloid

SOURCE = "kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }"


def run_twice(library, count=10000):
    x = numpy.ones(count, numpy.float32)
    library.twice(x)
    return bool((x == 2).all())


@pytest.mark.parametrize(
    "work",
    [
        "library.twice(x)",
        "metalloid.compile_shader(source + '// %d %d' % (number, time.time_ns())).twice(x)",
        "endless.run(x)",
    ],
)
def test_a_process_may_end_while_daemon_threads_work(work):
    script = f"""
        import threading, time
        import numpy, metalloid
        source = {SOURCE!r}
        library = metalloid.compile_shader(source)
        endless = metalloid.compile_shader("kernel void run(device volatile float* x) {{ while (true) x[0] += 1; }}")
        started = threading.Semaphore(0)

        def work(number):
            x = numpy.zeros(10000, numpy.float32)
            started.release()
            while True:
                {work}

        for number in range(3):
            threading.Thread(target=work, args=(number,), daemon=True).start()
        for _ in range(3):
            started.acquire()
        time.sleep(0.1)
        print("over")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout) == (0, "over\n"), done.stderr


def test_children_forked_while_threads_run_kernels():
    library = metalloid.compile_shader(SOURCE)
    over = threading.Event()

    def work():
        while not over.is_set():
            run_twice(library)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            child = os.fork()
            if child == 0:
                import signal

                signal.alarm(20)  # a child that hangs fails
                os._exit(0 if run_twice(library) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        for thread in threads:
            thread.join()
