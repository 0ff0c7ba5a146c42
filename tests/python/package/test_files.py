"""The files of the package: all of the source tree's, and what C++ needs that is compiled on the user's machine."""

import shutil
import subprocess
import sys

import pytest
from conftest import build, root

SCALE = r"""
#include <metalloid/metalloid.h>

extern "C" float scaled(float value, float factor) {
  metalloid::Library library = metalloid::Device::cpu().make_library(
      "kernel void scale(device float* x, constant float& f, uint i [[thread_position_in_grid]]) { x[i] *= f; }");
  metalloid::run(library.kernel("scale"),
                 metalloid::Dispatch().buffer(0, metalloid::Buffer::wrap(&value, sizeof value)).value(1, factor)
                     .threads({1}, {1}));
  return value;
}
"""


def files_of(folder):
    return {
        file.relative_to(folder)
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".so"
    }


def test_the_built_package_has_all_files_of_the_source_tree():
    source, built = root / "python" / "metalloid", build / "python" / "metalloid"
    beside = {file for file in files_of(built) if file.parts[0] in ("include", "sdk", "torch_mps")}
    assert files_of(built) - beside == files_of(source)
    assert {file.suffix for file in files_of(built)} >= {".py", ".pyi", ".typed", ".cpp", ".h"}


def test_pytorchs_device_stands_in_the_package():
    from metalloid import _cpp_files

    found = _cpp_files.torch_mps_folder()
    assert found.parent == build / "python" / "metalloid" and files_of(found) == files_of(root / "torch_mps")
    assert {file.suffix for file in files_of(found)} >= {".cpp", ".h", ".metal", ".mm", ".yaml"}


def test_cpp_that_is_compiled_here_uses_the_library_of_the_package(tmp_path):
    from metalloid import _cpp_files

    assert (_cpp_files.include_folder() / "metalloid" / "metalloid.h").is_file()
    (tmp_path / "scale.cpp").write_text(SCALE)
    compiler = shutil.which("c++") or pytest.fail("there is no C++ compiler")
    subprocess.run(
        [compiler, "-std=c++20", "-Wall", "-Werror", "-fPIC", "-shared", f"-I{_cpp_files.include_folder()}",
         tmp_path / "scale.cpp", _cpp_files.library(), "-o", tmp_path / "scale.so"],
        check=True, timeout=1200,
    )  # fmt: skip
    # In a process of its own, because libraries stay.
    code = f"""
import ctypes, metalloid
metalloid.devices()
scaled = ctypes.CDLL({str(tmp_path / "scale.so")!r}).scaled
scaled.restype, scaled.argtypes = ctypes.c_float, [ctypes.c_float] * 2
print(scaled(3.0, 2.0), len({{line.split()[-1] for line in open("/proc/self/maps") if "libmetalloid.so" in line}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=1200)
    assert done.stdout == "6.0 1\n", done.stderr
