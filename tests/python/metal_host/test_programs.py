"""Programs that are written for a Mac, one for each language, built with Clang and run on every engine."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from metalloid import _cpp_files

ROOT = pathlib.Path(__file__).parents[3]
BUILD = pathlib.Path(os.environ.get("METALLOID_BUILD", ROOT / "build")).resolve()
HERE = pathlib.Path(__file__).parent / "programs"
CLANG = shutil.which("clang-22") or pytest.fail("there is no clang-22")
FLAGS = {
    ".c": ["-fblocks"],
    ".m": ["-fblocks", "-fobjc-runtime=objfw", "-fconstant-string-class=NSConstantString", "-Werror=objc-method-access"],
}
FLAGS[".mm"] = [*FLAGS[".m"], "-std=c++20", "-lstdc++"]
ENGINES = ["cpu", "reference", "trial"]  # the last one has memory that the host cannot reach


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """The path of a program, by the name of its source."""
    folder = tmp_path_factory.mktemp("programs")

    def build(name: str, *flags: str) -> pathlib.Path:
        source, made = HERE / name, folder / "".join([name, *flags]).replace(".", "_")
        library = _cpp_files.metal_library()
        if not made.exists():
            command = [CLANG, "-O1", "-g", "-Wall", *flags, *FLAGS[source.suffix], f"-I{_cpp_files.sdk_include_folder()}", source,
                       library, f"-Wl,-rpath,{library.parent}", "-lm", "-lpthread", "-o", made]  # fmt: skip
            built = subprocess.run(command, capture_output=True, text=True, timeout=600)
            assert built.returncode == 0, built.stderr
            assert "warning:" not in built.stderr, built.stderr
        return made

    return build


def run(path: pathlib.Path, *arguments: str, device: str = "cpu", **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "METALLOID_TRIAL_ENGINE": "1", "METALLOID_DEVICE": device, **environment}
    return subprocess.run([path, *arguments], capture_output=True, text=True, timeout=600, env=variables)


@pytest.mark.parametrize("device", ENGINES)
@pytest.mark.parametrize("name", ["counters.m", "last_words.m", "mapped_file.m", "one_buffer.m", "saxpy.m", "saxpy_by_hand.c"])
def test_a_kernel(program, name, device):
    done = run(program(name), device=device)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == pathlib.Path(name).stem.replace("_", " ") + "\n"


@pytest.mark.parametrize("device", ENGINES)
def test_queues(program, device):
    done = run(program("queues.mm"), device=device)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "queues\n")


@pytest.mark.parametrize("device", ENGINES)
@pytest.mark.parametrize("how", ["exit", "return", "fork"])
def test_processes_that_leave_work(program, how, device):
    done = run(program("leaving.m"), how, device=device)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", how + "\n")


@pytest.mark.parametrize("device", ENGINES)
def test_arguments_that_nothing_uses(program, device):
    done = run(program("unbound.m"), device=device, METAL_DEVICE_WRAPPER_TYPE="1")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "unbound\n")


def test_automatic_counting(program):
    done = run(program("counted.mm", "-fobjc-arc", "-fobjc-weak"))
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "counted\n")


@pytest.mark.parametrize("name", ["dispatching.c", "ends_of_threads.mm", "errors.m", "notifications.m", "strings.m"])
def test_without_kernels(program, name):
    done = run(program(name))
    assert (done.returncode, done.stderr, done.stdout) == (0, "", pathlib.Path(name).stem.replace("_", " ") + "\n")


@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_exceptions(program, optimisation):
    done = run(program("exceptions.m", optimisation))
    assert (done.returncode, done.stdout) == (0, "exceptions\n"), done.stderr
    assert [line.rpartition(":")[0] for line in done.stderr.splitlines()] == ["*** Assertion failure in -[Absent asserts:], exceptions.m"] * 2
    library = program("library_that_throws.m", optimisation, "-shared", "-fPIC")
    done = run(program("exceptions.mm", optimisation, "-fobjc-arc", "-fobjc-weak"), library)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "exceptions\n")


@pytest.mark.parametrize("device", ENGINES)
@pytest.mark.parametrize("optimisation", ["-O0", "-O2"])
def test_invocations(program, optimisation, device):
    done = run(program("invocations.m", optimisation), device=device)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "invocations\n")


NAMED = "*** Terminating app due to uncaught exception 'Name', reason: 'a reason'\n*** First throw call stack:\n(\n\t0   "


@pytest.mark.parametrize(
    ("what", "printed", "said"),
    [
        ("exception", "", NAMED),
        ("thread", "", NAMED),
        ("queue", "", NAMED),
        ("completed", "", NAMED),
        ("finally", "finally\n", NAMED),
        ("handler", "handler: Name\n", NAMED),
        ("string", "", "*** Terminating app due to uncaught exception of class 'NSConstantString': a string\n"),
        ("noexcept", "", "*** Terminating app due to uncaught exception of class 'NSConstantString': through noexcept\n"),
        ("foundation", "", "'NSRangeException', reason: '*** -[NSArray objectAtIndex:]: index 2 beyond bounds for empty array'"),
        ("c++", "", "terminate called after throwing an instance of 'std::runtime_error'"),
        ("c++ finally", "finally\n", "terminate called after throwing an instance of 'std::runtime_error'"),
    ],
)
def test_what_nobody_catches(program, what, printed, said):
    done = run(program("uncaught.mm"), what)
    assert (done.returncode, done.stdout) == (-6, printed) and said in done.stderr, done.stderr


@pytest.mark.parametrize("device", ENGINES)
def test_threadgroup_memory_that_is_overrun(program, device):
    assert run(program("overrun.m"), device=device).stdout.split() == ["completed", "completed", "completed", "failed"]
    strict = run(program("overrun.m"), device=device, MTL_DEBUG_LAYER="1")
    assert strict.stdout.split() == ["failed", "failed", "completed", "failed"]


@pytest.mark.parametrize("device", ENGINES)
def test_function_constants(program, device):
    assert run(program("constants.m"), device=device).stdout == "7 0 2 0\n"
    strict = run(program("constants.m"), device=device, MTL_DEBUG_LAYER="1").stdout
    assert "no function constant" in strict, strict


@pytest.mark.parametrize("device", ENGINES)
def test_array_of_a_thread_that_is_overrun(program, device):
    assert run(program("thread_overrun.m"), device=device).stdout.splitlines() == ["4 2 0 0"] * 2
    strict = run(program("thread_overrun.m"), device=device, MTL_DEBUG_LAYER="1").stdout
    assert strict.count("variable 'own'") == 2, strict


@pytest.mark.parametrize("device", ENGINES)
def test_reads_behind_a_buffer(program, device):
    usual = run(program("behind_buffers.m"), device=device)
    assert usual.stdout.split() == ["completed", "completed", "failed", "completed", "completed"]
    strict = run(program("behind_buffers.m"), device=device, MTL_DEBUG_LAYER="1")
    assert strict.stdout.split() == ["completed", "failed", "failed", "failed", "failed"]


@pytest.mark.parametrize("device", ENGINES)
def test_places_in_a_heap(program, device):
    run(program("heap_places.m"), device=device)


@pytest.mark.parametrize("device", ENGINES)
def test_reads_around_bytes(program, device):
    usual = run(program("around_bytes.m"), device=device)
    assert usual.stdout.split() == ["completed", "completed", "failed"]
    strict = run(program("around_bytes.m"), device=device, MTL_DEBUG_LAYER="1")
    assert strict.stdout.split() == ["completed", "failed", "failed"]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("selector", "reason: '-[MTLDevice paint:]: unrecognized selector sent to instance 0x"),
        ("selector", "Metalloid does not have this method"),
        ("index", "buffer index 31 is beyond the last one, 30"),
        ("pipeline", "dispatchThreads without a compute pipeline state"),
        ("kind", "a MTLComputePipelineState is wanted here, not a MTLCommandQueue"),
        ("gone", "an object that is gone"),
        ("array", "*** -[NSArray objectAtIndex:]: index 3 beyond bounds [0 .. 2]"),
        ("committed", "-[_MTLCommandBuffer commit]: failed assertion `commit an already committed command buffer'"),
        ("handler", "-[_MTLCommandBuffer addCompletedHandler:]: failed assertion `Completed handler provided after commit call'"),
    ],
)
def test_what_a_mac_would_abort_at_is_said(program, what, said):
    done = run(program("wrong.m"), what)
    assert done.returncode == -6 and said in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("offset", "ComputeCommandEncoder setBuffer:offset:atIndex:]: failed assertion `offset(16) must be < [buffer length](16).'"),
        ("bytes", "ComputeCommandEncoder setBytes:length:atIndex:]: failed assertion `length(4097) must be <= 4096'"),
        ("group", "threadsPerThreadgroup.width(0) must be > 0"),
        ("binding", "Compute Function(f): missing buffer binding at index 0 for x[0]."),
        ("two encoders", "A command encoder is already encoding to this command buffer"),
        ("open", "commit command buffer with uncommitted encoder"),
        ("ended", "encoding has ended"),
        ("waiting", "command buffer has not been committed"),
    ],
)
def test_what_the_debug_layer_says(program, what, said):
    done = run(program("wrong.m"), what, MTL_DEBUG_LAYER="1")
    assert done.returncode == -6 and said in done.stderr, done.stderr
    told = run(program("wrong.m"), "offset", MTL_DEBUG_LAYER="1", MTL_DEBUG_LAYER_ERROR_MODE="nslog")
    assert (told.returncode, told.stdout) == (0, "nothing was wrong\n") and "failed assertion" in told.stderr
    unchecked = run(program("wrong.m"), "nothing")
    assert (unchecked.returncode, unchecked.stdout, unchecked.stderr) == (0, "nothing was wrong\n", "")


def test_python_by_ctypes():
    """As tinygrad speaks to it."""
    library = ctypes.CDLL(str(_cpp_files.metal_library()))
    for name, result in {"sel_registerName": ctypes.c_void_p, "objc_getClass": ctypes.c_void_p,
                         "MTLCreateSystemDefaultDevice": ctypes.c_void_p}.items():  # fmt: skip
        getattr(library, name).restype = result
    library.sel_registerName.argtypes = library.objc_getClass.argtypes = [ctypes.c_char_p]

    def send(receiver, selector, *arguments, result=ctypes.c_void_p):
        types = [ctypes.c_void_p, ctypes.c_void_p, *(type(argument) for argument in arguments)]
        function = ctypes.cast(library.objc_msgSend, ctypes.CFUNCTYPE(result, *types))
        return function(receiver, library.sel_registerName(selector), *arguments)

    device = library.MTLCreateSystemDefaultDevice()
    name = send(send(device, b"name"), b"UTF8String", result=ctypes.c_char_p)
    assert b"Metalloid on" in name
    buffer = send(device, b"newBufferWithLength:options:", ctypes.c_ulong(64), ctypes.c_ulong(0))
    assert send(buffer, b"length", result=ctypes.c_ulong) == 64
    ctypes.memset(send(buffer, b"contents"), 1, 64)
    assert send(device, b"hasUnifiedMemory", result=ctypes.c_int32) == 1
    send(buffer, b"release", result=None)


def test_under_the_checker(program, tmp_path):
    path = program("labelled.m")
    command = [BUILD / "bin/metalloid", "check", "--json", tmp_path / "found.json", "--", path]
    fine = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (fine.returncode, fine.stdout, fine.stderr) == (0, "done\n", "no findings in 1 dispatch\n")
    assert json.loads((tmp_path / "found.json").read_text())["findings"] == []

    found = subprocess.run([*command, "race"], capture_output=True, text=True, timeout=600)
    assert (found.returncode, found.stdout) == (4, "done\n")
    assert "program_source:8:" in found.stderr and "[threadgroup-race]" in found.stderr
    assert "in kernel 'reverse', launched by encoder 'turn round' of command buffer 'frame 7'" in found.stderr
    assert found.stderr.endswith("1 finding: 1 threadgroup-race\n")
    finding, = json.loads((tmp_path / "found.json").read_text())["findings"]
    assert finding["launch"] == "encoder 'turn round' of command buffer 'frame 7'"

    suppressed = subprocess.run([*command[:2], "--suppress", "threadgroup-race:program_source", "--", path, "race"],
                                capture_output=True, text=True, timeout=600)  # fmt: skip
    assert (suppressed.returncode, suppressed.stderr) == (0, "no findings in 1 dispatch\n")
    missing = subprocess.run([*command[:2], "--", "./no-such-program"], capture_output=True, text=True)
    assert missing.returncode == 2 and "./no-such-program cannot be started: No such file or directory" in missing.stderr
    other = subprocess.run([*command[:2], "--", "sh", "-c", "exit 3"], capture_output=True, text=True)
    assert (other.returncode, other.stderr) == (3, "the program has launched no kernel on Metalloid; the program ended with 3\n")
