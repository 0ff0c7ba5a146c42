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
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=1200, check=False
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

                signal.alarm(1000)  # a child that hangs fails; a busy machine is no failure
                os._exit(0 if run_twice(library) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        for thread in threads:
            thread.join()


PAUSES = {
    "in a module": """
        def meet(event, arguments):
            if event == "import" and arguments[0] == "metalloid._arguments.policy":
                pause()
        sys.addaudithook(meet)

        def first_use():
            import metalloid
            metalloid.compile_shader
    """,
    "in the package": """
        def meet(event, arguments):
            if event == "import" and arguments[0] in ("_interpreters", "_xxsubinterpreters"):
                pause()
        sys.addaudithook(meet)

        def first_use():
            import metalloid
    """,
    "before a module": """
        def first_use():
            from metalloid import _fork_barrier
            _fork_barrier._Loader.create_module = lambda self, spec: pause()
            import metalloid._device
    """,
}


@pytest.mark.parametrize("place", PAUSES)
def test_a_child_imports_what_another_thread_was_importing(place):
    script = f"""
        import os, signal, sys, threading, time
        half_way = threading.Event()

        def pause():
            if not half_way.is_set():
                half_way.set()
                time.sleep(0.5)  # the main thread forks meanwhile
        {PAUSES[place]}
        thread = threading.Thread(target=first_use)
        thread.start()
        assert half_way.wait(1000)
        child = os.fork()
        if child == 0:
            signal.alarm(1000)  # a child that hangs fails
            import metalloid._device
            os._exit(0 if "twice" in dir(metalloid.compile_shader({SOURCE!r})) else 1)
        print(os.waitpid(child, 0)[1])
        thread.join()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.stdout == "0\n", done.stderr


def test_many_forks_during_the_first_import_and_kernel():
    script = f"""
        import os, signal, sys, threading, time

        def use():
            import metalloid, numpy
            x = numpy.ones(100, numpy.float32)
            metalloid.compile_shader({SOURCE!r}).twice(x)
            return bool((x == 2).all())

        thread = threading.Thread(target=use)
        thread.start()
        while not getattr(sys.modules.get("metalloid._fork_barrier"), "_is_installed", False):
            time.sleep(0.0001)
        children = []
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(1000)  # a child that hangs fails
                os._exit(0 if use() else 1)
            children.append(child)
            time.sleep(0.003)
        print({{os.waitpid(child, 0)[1] for child in children}})
        thread.join()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.stdout == "{0}\n", done.stderr


ENDLESS = """
constexpr int count(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i & 1; return sum; }
template <int n> struct Many { static constexpr int value = count(90000 + n) + Many<n - 1>::value; };
template <> struct Many<0> { static constexpr int value = 0; };
""" + "".join(f"constant int c{i} = Many<{i}00>::value;\n" for i in range(1, 10)) + "".join(
    f'static_assert(count(80000 + {i}) > 0, "");\n' for i in range(100000)
)


@pytest.mark.parametrize("in_process", ["0", "1"])
def test_interrupts_stop_a_compile(tmp_path, in_process):
    (tmp_path / "endless.metal").write_text(ENDLESS)
    script = f"""
        import os, pathlib, signal, threading, time
        import metalloid
        source = pathlib.Path({str(tmp_path / "endless.metal")!r}).read_text()
        metalloid.compile_shader({SOURCE!r}).twice  # the standard library is ready

        def interrupt():
            time.sleep(1)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        try:
            metalloid.compile_shader(source).f
        except KeyboardInterrupt:
            print("interrupted")
    """
    environment = {**os.environ, "METALLOID_COMPILE_IN_PROCESS": in_process, "METALLOID_COMPILE_TIMEOUT": "inf"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True, text=True, timeout=1200, check=False, env=environment,
    )  # fmt: skip
    assert done.stdout == "interrupted\n", done.stderr
