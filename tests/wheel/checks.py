"""What an installed wheel must do where nothing but Python is installed. scripts/test_wheel.sh runs this file there."""

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest

import metalloid
from metalloid import _cpp_files

pytest_plugins = ["pytester"]
package = pathlib.Path(metalloid.__file__).parent
command = pathlib.Path(sys.executable).with_name("metalloid")
SCALE = "kernel void scale(device float* x, constant float& f, uint i [[thread_position_in_grid]]) { x[i] *= f; }"

# Threads that meet inside of a function that stays a call have a fiber each.
MEETINGS = """
#include <metal_stdlib>
using namespace metal;
[[clang::noinline]] float total(float value, threadgroup float* sums, uint simdgroup) {
  sums[simdgroup] = simd_sum(value);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return sums[0] + sums[1];
}
kernel void sum(device float* x, uint i [[thread_position_in_grid]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float sums[2];
  x[i] = total(x[i], sums, simdgroup);
}
"""

# More than a compile may take of the memory below.
ENDLESS = "constexpr int count(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i & 1; return sum; }\n" + "".join(
    f'static_assert(count({80000 + i}) > 0, "");\n' for i in range(100000)
)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("METALLOID_CACHE_DIR", str(tmp_path / "cache"))


def run(*arguments, **variables):
    return subprocess.run(
        list(map(str, arguments)), capture_output=True, text=True, timeout=1200, env={**os.environ, **variables}
    )


def test_the_machine_is_bare():
    assert not any(shutil.which(name) for name in ("c++", "g++", "clang", "clang-22", "cmake", "llvm-config-22"))


def test_libraries_are_the_wheels_own():
    with open("/proc/self/maps") as maps:
        metalloid.compile_shader(SCALE).scale(numpy.zeros(1, numpy.float32), 1.0)
        loaded = {pathlib.Path(line.split()[-1]) for line in maps if ".so" in line}
    for name in ("libmetalloid", "libtbb", "libfmt", "libboost_context"):
        (library,) = [path for path in loaded if path.name.startswith(name)]
        assert library.is_relative_to(package.parent)


def test_command_line(tmp_path):
    (tmp_path / "scale.metal").write_text(SCALE)
    arguments = ["run", tmp_path / "scale.metal", "--threads", 5, "--arg", "x=f32[5]=arange", "--arg", "f=10"]
    for start in ([command], [sys.executable, "-m", "metalloid"]):
        done = run(*start, *arguments)
        assert done.stdout == "x: f32[5]\n[ 0 10 20 30 40]\n", done.stderr


def test_kernels_on_arrays():
    x = numpy.arange(1000, dtype=numpy.float32)
    metalloid.compile_shader(SCALE).scale(x, 10.0, group_size=64)
    assert (x == 10 * numpy.arange(1000)).all()


def test_threads_that_meet_in_functions():
    x = numpy.ones(64, numpy.float32)
    metalloid.compile_shader(MEETINGS).sum(x, threads=64, group_size=64)
    assert (x == 64).all()


def test_errors_name_the_place():
    with pytest.raises(SyntaxError, match="use of undeclared identifier 'factr'; did you mean 'factor'"):
        metalloid.compile_shader("kernel void scale(device float* x, constant float& factor) { x[0] *= factr; }")


def test_compiles_happen_in_a_process_of_their_own(tmp_path):
    (tmp_path / "endless.metal").write_text(ENDLESS)
    failed = run(command, "inspect", tmp_path / "endless.metal", METALLOID_COMPILE_MEMORY="60")
    assert "needs more memory than $METALLOID_COMPILE_MEMORY" in failed.stderr


def test_pytest_plugin(pytester):
    pytester.makepyfile(f"""
        import numpy

        def test_scale(metal_library):
            x = numpy.ones(4, numpy.float32)
            metal_library({SCALE!r}).scale(x, 2.0)
            assert (x == 2).all()
    """)
    done = pytester.runpytest_subprocess("--metalloid-require-kernels")
    done.assert_outcomes(passed=1)


def test_the_device_mps_comes_compiled():
    code = "import torch; print((torch.arange(3., device='mps') + 1).exp().log())"
    done = run(sys.executable, "-m", "metalloid.mps", "-c", code)
    assert (done.stdout, done.stderr) == ("tensor([1., 2., 3.], device='mps:0')\n", "")


def test_what_cpp_programs_need():
    headers = {file.name for file in (package / "include" / "metalloid").glob("*.h")}
    assert {"metalloid.h", "fast.h", "reported_errors.h"} <= headers
    assert (package / "lib" / "cmake" / "metalloid" / "metalloid-config.cmake").is_file()
    assert (package / "lib" / "pkgconfig" / "metalloid.pc").is_file()
    assert {"interface.h", "primitive.cpp"} <= {file.name for file in (package / "fast" / "_mlx" / "extension").iterdir()}
    assert _cpp_files.include_folder() == package / "include"
    assert _cpp_files.torch_mps_folder() == package / "torch_mps"
    folders = {file.parent.name for file in _cpp_files.torch_mps_folder().rglob("*") if file.is_file()}
    assert {"device", "host", "objc", "operations", "kernels"} <= folders
    assert _cpp_files.library() == package / "lib" / "libmetalloid.so"
    assert _cpp_files.metal_library() == package / "lib" / "libmetalloid_metal.so" and _cpp_files.metal_library().is_file()
    assert (_cpp_files.sdk_include_folder() / "Metal" / "Metal.h").is_file()


def test_licences():
    names = {file.name for file in importlib.metadata.files("metalloid") if "licenses" in file.parts}
    assert {"LICENSE", "llvm-22-dev", "libtbb12", "libfmt9", "nanobind"} <= names
