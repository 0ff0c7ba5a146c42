"""What is installed: docs/from-cpp.md for C++ programs, the command line, what the package says without PyTorch."""

import os
import re
import subprocess
import sys

import pytest
from conftest import build, root

import metalloid

page = (root / "docs" / "from-cpp.md").read_text()


def run(*command, **keywords):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=1200, **keywords)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", build, "--prefix", folder / "first", "--component", "metalloid")
    return (folder / "first").rename(folder / "moved")


@pytest.fixture
def project(tmp_path):
    for title in ("main.cpp", "CMakeLists.txt"):
        (text,) = re.findall(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```', page, re.DOTALL | re.MULTILINE)
        (tmp_path / title).write_text(text)
    return tmp_path


def library_folder(prefix):
    (library,) = prefix.rglob("libmetalloid.so")
    return library.parent


def test_cmake_finds_the_package(prefix, project):
    run("cmake", "-B", project / "build", "-S", project, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", project / "build")
    assert run(project / "build" / "scale") == "0 10 20 30 40 \n"


def test_pkg_config_finds_the_package(prefix, project):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(library_folder(prefix) / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "metalloid", env=environment).split()
    rpath = f"-Wl,-rpath,{library_folder(prefix)}"
    run("g++", "-std=c++20", project / "main.cpp", *flags, rpath, "-o", project / "scale")
    assert run(project / "scale") == "0 10 20 30 40 \n"


def test_headers_of_the_page(prefix, project):
    headers = re.findall(r"^\| `(metalloid/\w+\.h)`", page, re.MULTILINE)
    (project / "headers.cpp").write_text("".join(f"#include <{header}>\n" for header in reversed(headers)))
    run("g++", "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", "-I", prefix / "include", project / "headers.cpp")
    assert len(headers) > 1


def test_command_line(prefix):
    assert "reference" in run(prefix / "bin" / "metalloid", "devices")


def test_the_library_needs_what_the_documentation_lists(prefix):
    page = (root / "docs" / "dependencies.md").read_text()
    bundled = {"tbb", "fmt", "boost_context"}  # with their licences, by scripts/wheel.sh
    system = {"stdc++", "gcc_s", "m", "c", "ld-linux-x86-64"}
    dynamic = run("readelf", "--dynamic", "--wide", library_folder(prefix) / "libmetalloid.so")
    needed = {name.removeprefix("lib") for name in re.findall(r"\(NEEDED\).*\[([^\]]+?)\.so", dynamic)}
    assert bundled < needed <= bundled | system
    assert all(f"`{name}`" in page for name in ("libtbb12", "libfmt9", "libboost-context1.74.0"))


def test_the_compilers_process_is_installed(prefix, tmp_path):
    assert os.access(library_folder(prefix) / "metalloid_compiler", os.X_OK)
    (tmp_path / "endless.metal").write_text(
        "constexpr int count(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i & 1; return sum; }\n"
        + "".join(f'static_assert(count({80000 + i}) > 0, "");\n' for i in range(100000))
    )
    environment = {**os.environ, "METALLOID_COMPILE_MEMORY": "60"}  # only a process of its own has such a limit
    failed = subprocess.run(
        [prefix / "bin" / "metalloid", "inspect", tmp_path / "endless.metal"],
        capture_output=True, text=True, timeout=1200, env=environment,
    )  # fmt: skip
    assert "needs more memory than $METALLOID_COMPILE_MEMORY" in failed.stderr


def test_python_starts_the_command_line():
    assert run(sys.executable, "-m", "metalloid", "--version").startswith("metalloid 0.")
    failed = subprocess.run([sys.executable, "-m", "metalloid", "run"], capture_output=True, text=True, timeout=1200)
    assert failed.returncode == 2 and "FILE is required" in failed.stderr


@pytest.mark.parametrize("name", ["TorchMetalKernel", "coreai"])
def test_missing_torch_is_named(name):
    code = f"import sys; sys.modules['torch'] = None; import metalloid; metalloid.{name}"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=1200)
    message = failed.stderr.splitlines()[-1]
    assert f"metalloid.{name} needs torch" in message and message.endswith("(pip install torch)")


def test_without_torch_the_rest_can_be_listed():
    code = "import sys; sys.modules['torch'] = None; from metalloid import *; import metalloid, inspect; help(metalloid)\n"
    code += "print(len(inspect.getmembers(metalloid)), compile_shader, 'coreai' in dir(metalloid))"
    assert run(sys.executable, "-c", code).splitlines()[-1].endswith(" False")
    assert "coreai" in dir(metalloid)
