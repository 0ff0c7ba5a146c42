"""python -m metalloid.mps --macos VERSION, and the headers of torch's package under it."""

import os

import pytest
import torch_processes

torch = pytest.importorskip("torch")
pytest_plugins = "pytester"

VERSIONS = """
import torch, platform
x = torch.zeros(1, dtype=torch.int32, device="mps")
torch.mps.compile_shader("kernel void version(device int* x) { x[0] = __METAL_VERSION__; }").version(x)
newer = torch.backends.mps.is_macos_or_newer
print(x.item(), newer(14, 0), newer(15, 0), newer(15, 1), newer(26, 0), newer(26, 2), platform.mac_ver()[0])
"""


def run(*arguments, **environment):
    return torch_processes.run(["-m", "metalloid.mps", *arguments], env={**os.environ, **environment})


@pytest.mark.parametrize("options, environment, expected", [
    ([], {}, "320 True True False False False"),
    (["--macos", "26"], {}, "400 True True True True False 26.0"),
    (["--macos=26.2"], {}, "400 True True True True True 26.2"),
    ([], {"METALLOID_MACOS": "26"}, "400 True True True True False 26.0"),
    (["--macos", "14"], {"METALLOID_MACOS": "26"}, "310 True False False False False 14.0"),
    (["--macos", "15.1"], {}, "320 True True True False False 15.1"),
])  # fmt: skip
def test_versions(options, environment, expected):
    result = run(*options, "-c", VERSIONS, **environment)
    assert result.stdout.strip() == expected, result.stderr


def test_child_processes():
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', " + repr(VERSIONS) + "])"
    assert run("--macos", "26", "-c", code).stdout.startswith("400 ")


@pytest.mark.parametrize("options, environment", [
    (["--macos", "27"], {}), (["--macos", "x"], {}), (["--macos"], {}), ([], {"METALLOID_MACOS": "big sur"}),
])  # fmt: skip
def test_other_versions(options, environment):
    result = run(*options, "-c", "print()", **environment)
    assert result.returncode != 0 and "macOS must be one of 13, 14, 15, 26" in result.stderr
    assert "Traceback" not in result.stderr


def test_pytest_option(pytester):
    pytester.makepyfile("import torch\ndef test():\n    assert torch.backends.mps.is_macos_or_newer(26, 0)")
    assert pytester.runpytest_subprocess("-p", "metalloid.pytest_plugin", "--metalloid-mps", "--metalloid-macos=26").ret == 0
    assert pytester.runpytest_subprocess("-p", "metalloid.pytest_plugin", "--metalloid-mps", "--metalloid-macos=15").ret == 1
    assert pytester.runpytest_subprocess("-p", "metalloid.pytest_plugin", "--metalloid-mps", "-o", "metalloid_macos=26").ret == 0
    result = pytester.runpytest_subprocess("-p", "metalloid.pytest_plugin", "--metalloid-mps", "--metalloid-macos=9")
    result.stderr.fnmatch_lines("*--metalloid-macos: macOS must be one of*")


HEADER = """
import torch
lib = torch.mps.compile_shader('''
#include <c10/metal/indexing.h>
using namespace metal;
using namespace c10::metal;
#include <{name}>
#include <{name}>
#include <c10/metal/common.h>
kernel void f(device long* x) {{ x[0] = {value}; }}
''')
x = torch.zeros(1, dtype=torch.int64, device="mps")
lib.f(x)
print(x.item())
"""


@pytest.mark.parametrize("name, value, expected", [
    ("ATen/native/mps/kernels/Pooling.h", "sizeof(PoolingParams<5>) > 0", 1),
    ("ATen/native/mps/kernels/TensorCompare.h", "5", 5),
    ("ATen/native/mps/kernels/SortTopK.h", "6", 6),
])  # fmt: skip
def test_headers_of_torch(name, value, expected):
    result = run("-c", HEADER.format(name=name, value=value))
    assert result.stdout.strip() == str(expected), result.stderr


def test_no_other_files(tmp_path):
    (tmp_path / "secret.h").write_text("constant long secret = 3;")
    result = run("-c", HEADER.format(name=f"ATen/../../../../../../../../../../..{tmp_path}/secret.h", value="secret"))
    assert result.returncode != 0 and "SyntaxError" in result.stderr
