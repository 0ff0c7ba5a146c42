"""The tools that build a Mac's programs: compiler drivers, xcrun, metal and its kin, CMake projects."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess

import numpy
import pytest

import metalloid

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("METALLOID_BUILD", ROOT / "build")).resolve()
PROJECT = pathlib.Path(__file__).with_name("project")


@pytest.fixture(scope="session")
def sdk(tmp_path_factory):
    """The SDK's folder, which the first call makes."""
    place = tmp_path_factory.mktemp("sdk") / "it is here"
    done = subprocess.run([BUILD / "bin/metalloid", "sdk", "path"], capture_output=True, text=True,
                          env={**os.environ, "METALLOID_SDK": str(place)})  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{place}\n", "")
    return place


@pytest.fixture
def run(sdk, tmp_path):
    """Runs a command with the SDK's tools in the PATH, in a folder with a copy of the project's sources."""
    shutil.copytree(PROJECT, tmp_path, dirs_exist_ok=True)
    variables = {**os.environ, "METALLOID_SDK": str(sdk), "PATH": f"{sdk}/bin:{os.environ['PATH']}"}

    def call(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, env={**variables, **environment})

    call.folder = tmp_path
    return call


def fine(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_a_mac_would_say(run, sdk):
    assert fine(run("xcrun", "-sdk", "macosx", "--show-sdk-version")) == "15.0\n"
    assert fine(run("xcrun", "--show-sdk-path")) == f"{sdk}\n"
    assert fine(run("xcrun", "--sdk", "macosx", "--find", "metal")) == f"{sdk}/bin/metal\n"
    assert fine(run("sw_vers", "-productVersion")) == "15.0\n"
    missing = run("xcrun", "-sdk", "macosx", "no-such-tool")
    assert (missing.returncode, missing.stderr) == (
        72, 'xcrun: error: unable to find utility "no-such-tool", not a developer tool or in PATH\n')  # fmt: skip
    assert "InstalledDir" in fine(run("xcrun", "metal", "--version"))


def test_metal_to_a_library_that_needs_no_sources(run):
    fine(run("xcrun", "-sdk", "macosx", "metal", "-std=metal3.1", "-O3", "-mmacosx-version-min=14.0", "-gline-tables-only",
             "-MD", "-MF", "add.d", "-c", "add.metal", "-o", "add.air"))  # fmt: skip
    assert (run.folder / "add.d").read_text() == f"add.air: add.metal \\\n  {run.folder}/addend.h\n"
    fine(run("xcrun", "metallib", "add.air", "-o", "add.metallib"))
    bytes = (run.folder / "add.metallib").read_bytes()
    assert bytes[:4] == b"MTLB" and bytes[-4:] == b"ENDT"
    assert fine(run("metal-nm", "add.metallib")) == "".join(f"-------- T {name}\n" for name in ("add", "fill_float", "fill_int"))
    fine(run("metalloid-clang", "main.m", "-DIS_APPLE=0", "-framework", "Metal", "-framework", "Foundation", "-o", "main"))
    for name in ("add.metal", "addend.h"):
        (run.folder / name).unlink()
    for device in ("cpu", "reference", "trial"):
        done = run("./main", "add.metallib", METALLOID_DEVICE=device, METALLOID_TRIAL_ENGINE="1")
        assert fine(done) == "add fill_float fill_int\n"


def test_files_that_are_no_libraries(run):
    fine(run("metal", "add.metal", "-o", "good.metallib"))
    fine(run("metalloid-clang", "main.m", "-DIS_APPLE=0", "-framework", "Metal", "-lobjc", "-o", "main"))
    good = (run.folder / "good.metallib").read_bytes()
    cases = {
        "apples.metallib": (b"MTLB\x01\x80\x02\x00" + bytes(100), "a metallib is machine code for Apple's GPUs"),
        "apples.air": (b"\xde\xc0\x17\x0b" + bytes(100), "it is what Apple's compiler made of a source (AIR)"),
        "text": (b"kernel void f() {}", "it is no Metal library"),
        "empty": (b"", "the file is empty"),
        "short": (good[: len(good) // 2], "it is damaged"),
        "other": (good[:15] + b"\x63" + good[16:], "packed by another version of Metalloid"),
    }
    for name, (content, reason) in cases.items():
        (run.folder / name).write_bytes(content)
        done = run("./main", name)
        assert done.returncode == 2 and done.stdout.startswith("MTLLibraryErrorDomain "), (name, done.stdout)
        assert reason in done.stdout and name in done.stdout, (name, done.stdout)
        linked = run("metallib", name, "-o", "out.metallib")
        assert linked.returncode == 1 and reason in linked.stderr and not (run.folder / "out.metallib").exists()
    assert "library not found: nowhere" in run("./main", "nowhere").stdout
    # Every byte that is changed is refused or harmless.
    for place in range(16, len(good), 97):
        (run.folder / "changed").write_bytes(good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :])
        assert run("metal-nm", "changed").returncode in (0, 1)


def test_a_library_in_python(run):
    fine(run("metal", "add.metal", "-o", "add.metallib"))
    (run.folder / "other.metal").write_text("constant int n [[function_constant(0)]];\nkernel void other(device int* x) { x[0] = n; }\n")
    fine(run("metal", "-c", "other.metal", "-o", "other.air"))
    fine(run("metallib", "add.metallib", "other.air", "-o", "both.metallib"))
    library = metalloid.load_metallib(run.folder / "both.metallib")
    assert dir(library) == ["add", "fill_float", "fill_int", "other"]
    values = numpy.arange(4, dtype=numpy.float32)
    library.add(values)
    assert values.tolist() == [5, 6, 7, 8]
    one = numpy.zeros(1, numpy.int32)
    library.get_kernel("other", {"n": 7})(one)
    assert one.tolist() == [7]
    with pytest.raises(RuntimeError, match="Failed to create function state object for: missing"):
        library.get_kernel("missing")(one)
    assert dir(metalloid.load_metallib((run.folder / "other.air").read_bytes(), device="reference")) == ["other"]
    with pytest.raises(metalloid.Error, match="machine code for Apple's GPUs"):
        metalloid.load_metallib(b"MTLB" + bytes(100))
    with pytest.raises(FileNotFoundError):
        metalloid.load_metallib("nowhere.metallib")
    with pytest.raises(TypeError, match="expected bytes or path, got int"):
        metalloid.load_metallib(5)


def test_errors_of_a_source(run):
    (run.folder / "wrong.metal").write_text("#include <metal_stdlib>\nkernel void f(device float* x) { x[0] = y; }\n")
    done = run("xcrun", "metal", "-c", "wrong.metal", "-o", "wrong.air")
    assert done.returncode == 1 and not (run.folder / "wrong.air").exists()
    assert done.stderr.startswith("wrong.metal:2:") and "error: use of undeclared identifier 'y'" in done.stderr
    assert run("metal", "-c", "nowhere.metal").stderr.startswith("metal: error: 'nowhere.metal' cannot be read")
    assert run("metal", "-c", "add.metal", "-no-such").stderr == "metal: error: unknown argument: '-no-such'\n"
    assert run("metal").stderr == "metal: error: no input files\n"


def test_the_preprocessor(run):
    done = run("metal", "-x", "metal", "-DN=3", "-I", "no such folder", "-E", "-P", "-H", "add.metal")
    assert done.stderr == f". {run.folder}/addend.h\n" or done.stderr == ". ./addend.h\n"
    assert "constant float addend = 5;" in fine(done) and "metal_stdlib" not in done.stdout and "#" not in done.stdout
    macros = subprocess.run(["metal", "-E", "-x", "metal", "-P", "-"], input="__METAL_VERSION__ N", capture_output=True, text=True,
                            env={**os.environ, "PATH": f"{fine(run('xcrun', '--show-sdk-path')).strip()}/bin:{os.environ['PATH']}"})  # fmt: skip
    assert (macros.returncode, macros.stdout.split()) == (0, ["320", "N"])


@pytest.mark.parametrize(("toolchain", "is_apple"), [("metalloid", 0), ("metalloid-darwin", 1)])
def test_a_cmake_project(run, sdk, toolchain, is_apple):
    fine(run("cmake", "-G", "Ninja", "-B", "out", "--toolchain", f"{sdk}/cmake/{toolchain}.cmake"))
    fine(run("cmake", "--build", "out"))
    assert fine(run("out/add")) == f"added {is_apple}\n"


def test_a_macs_arguments_of_clang(run):
    (run.folder / "twice.m").write_text("#import <Foundation/Foundation.h>\nint twice(int x) { @autoreleasepool { return 2 * x; } }\n")
    (run.folder / "main.cpp").write_text('extern "C" int twice(int);\n#include <tuple>\nint main() { return std::optional<int>(twice(21)).value() == 42 ? 0 : 1; }\n')
    flags = ["-arch", "arm64", "-isysroot", "/nowhere", "-mmacosx-version-min=14.0"]
    fine(run("metalloid-clang", *flags, "-fobjc-arc", "-dynamiclib", "-install_name", "@rpath/libtwice.dylib", "-Wl,-headerpad_max_install_names",
             "twice.m", "-framework", "Foundation", "-undefined", "dynamic_lookup", "-o", "libtwice.dylib"))  # fmt: skip
    fine(run("metalloid-clang++", *flags, "-std=c++17", "-include", "optional", "main.cpp", "libtwice.dylib", "-Wl,-rpath,@loader_path",
             "-Wl,-dead_strip", "-o", "main"))  # fmt: skip
    fine(run("./main"))
    missing = run("metalloid-clang", "twice.m", "-framework", "AppKit")
    assert missing.returncode == 1 and missing.stderr.startswith("metalloid-clang: error: framework 'AppKit' not found; Metalloid's SDK has Foundation,")
    (run.folder / "undeclared.m").write_text("#import <Metal/Metal.h>\nvoid f(id<MTLDevice> device) { [device paint]; }\n")
    assert "error: instance method '-paint' not found" in run("metalloid-clang", "-c", "undeclared.m").stderr


def test_exceptions_of_cpp(run):
    shutil.copy(PROJECT.with_name("exceptions.cpp"), run.folder)
    fine(run("metalloid-clang++", "-std=c++20", "exceptions.cpp", "-o", "main"))
    assert fine(run("./main")).split("\n")[:3] == ["one", "two", "stoi: no conversion"]
    assert fine(run("./main")).endswith("\n3 0\noutin\nx\n")


def test_exceptions_of_a_library_in_cpp(run):
    """A program catches what its own library throws, by the exception's class and by classes that it stands on."""
    (run.folder / "thrown.h").write_text("#include <exception>\nstruct Own : std::exception {};\nvoid fail(int kind);\n")
    (run.folder / "library.cpp").write_text("""
#include "thrown.h"
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <vector>
void fail(int kind) {
  std::cout << "fails\\n";
  if (kind == 0) throw std::invalid_argument(std::string("invalid"));
  if (kind == 1) throw std::system_error(std::make_error_code(std::errc::timed_out));
  if (kind == 2) throw Own();
  if (kind == 3) throw std::bad_alloc();
  std::vector<int>().at(kind);
}
""")
    (run.folder / "main.cpp").write_text("""
#include "thrown.h"
#include <cerrno>
#include <iostream>
#include <string>
#include <system_error>
int main() {
  for (int kind = 0; kind < 5; ++kind) {
    try {
      fail(kind);
    } catch (const std::invalid_argument& error) {
      std::cout << error.what() << "\\n";
    } catch (const std::system_error& error) {
      std::cout << (error.code().value() == ETIMEDOUT ? "timed out" : "another code") << "\\n";
    } catch (const Own&) {
      std::cout << "own\\n";
    } catch (const std::bad_alloc&) {
      const std::exception_ptr kept = std::current_exception();
      try {
        std::rethrow_exception(kept);
      } catch (const std::exception& error) {
        std::cout << "no memory " << std::uncaught_exceptions() << "\\n";
      }
    } catch (const std::logic_error& error) {
      std::cout << "logic\\n";
    }
  }
}
""")
    fine(run("metalloid-clang++", "-std=c++20", "-dynamiclib", "library.cpp", "-o", "libfailing.dylib"))
    fine(run("metalloid-clang++", "-std=c++20", "main.cpp", "libfailing.dylib", "-Wl,-rpath,@loader_path", "-o", "main"))
    said = fine(run("./main")).splitlines()
    assert sorted(said) == sorted(5 * ["fails"] + ["invalid", "timed out", "own", "no memory 0", "logic"])


def test_messages_of_cpp_to_nil(run):
    """An object of metal-cpp is `this` of its member functions, and a pointer to none of them sends to nil."""
    (run.folder / "main.cpp").write_text("""
#include <objc/message.h>
#include <stdio.h>
SEL release_selector = sel_registerName("release");
struct Object {
  __attribute__((always_inline)) inline void release() {
    ((void (*)(const void*, SEL))objc_msgSend)(this, release_selector);
  }
};
struct Pointer {
  Object* object;
  ~Pointer() { object->release(); }
};
int main(int count, char**) {
  Pointer pointer{nullptr};
  if (count > 1) {
    puts("went astray");
    pointer.object = (Object*)objc_lookUpClass("NSObject");
  }
}
""")
    for level in ("-O0", "-O1", "-O3"):
        fine(run("metalloid-clang++", level, "main.cpp", "-framework", "Metal", "-o", "main"))
        assert fine(run("./main")) == ""


def test_a_dispatch_that_fails_in_cpp(run):
    shutil.copy(PROJECT.with_name("failing.mm"), run.folder)
    fine(run("metalloid-clang++", "-std=c++20", "failing.mm", "-framework", "Metal", "-framework", "Foundation", "-o", "main"))
    said, end = fine(run("./main", MALLOC_CHECK_="3", MALLOC_PERTURB_="7")).splitlines()
    assert said.startswith("kernel 'f' writes outside of the threadgroup's variable 'all': element -8 of 8") and end == "end"


def test_an_assemblers_source_of_a_mac(run):
    (run.folder / "text.txt").write_text("inside")
    (run.folder / "data.s").write_text('.section __DATA,__own_data\n.globl _own_begin\n_own_begin:\n.incbin "text.txt"\n'
                                       ".globl _own_end\n_own_end:\n")  # fmt: skip
    (run.folder / "main.c").write_text("#include <stdio.h>\nextern const char own_begin[], own_end[];\n"
                                       'int main(void) { printf("%.*s\\n", (int)(own_end - own_begin), own_begin); }\n')  # fmt: skip
    fine(run("metalloid-clang", "main.c", "data.s", "-o", "main"))
    assert fine(run("./main")) == "inside\n"


def test_exceptions_of_objective_c(run):
    """With the standard library that the kit brings, and a library of the kit's."""
    for name in ("exceptions.mm", "library_that_throws.m", "checking.h"):
        shutil.copy(ROOT / "tests/python/metal_host/programs" / name, run.folder)
    fine(run("metalloid-clang", "-dynamiclib", "library_that_throws.m", "-framework", "Foundation", "-o", "libthrowing.dylib"))
    fine(run("metalloid-clang++", "-std=c++20", "-O2", "-fobjc-arc", "exceptions.mm", "-framework", "Foundation", "-o", "main"))
    assert fine(run("./main", "./libthrowing.dylib")) == "exceptions\n"


def test_the_doctor(run):
    done = run(str(BUILD / "bin/metalloid"), "sdk", "doctor")
    assert "FAIL" not in fine(done) and done.stdout.count("ok ") == 6


def test_a_shell(run, sdk):
    assert fine(run(str(BUILD / "bin/metalloid"), "sdk", "shell", "sh", "-c", 'echo "$CC" && which metal')) == (
        f"{sdk}/bin/metalloid-clang\n{sdk}/bin/metal\n"
    )
    assert f"export OBJCXX='{sdk}/bin/metalloid-clang++'\n" in fine(run(str(BUILD / "bin/metalloid"), "sdk", "env"))


def test_the_commands_of_the_page(run):
    """docs/mac-programs.md, in a folder that looks like a checkout with a program and a project in it."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "docs" / "mac-programs.md").read_text(), re.DOTALL | re.MULTILINE)
    for name in ("saxpy.m", "checking.h"):
        shutil.copy(ROOT / "tests/python/metal_host/programs" / name, run.folder)
    for name, place in {"src": ROOT / "src", "build/lib": BUILD / "lib"}.items():
        (run.folder / name).parent.mkdir(exist_ok=True)
        (run.folder / name).symlink_to(place)
    for block in blocks:
        done = run("bash", "-e", "-c", block)
        assert fine(done).endswith("saxpy\n") or "add" in block or "cmake" in block, done.stdout
