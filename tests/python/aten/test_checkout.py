"""``metalloid aten`` on a whole checkout of PyTorch: here its layout, with the wheel's native_functions.yaml."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("torch")
torchgen = pytest.importorskip("torchgen")

METAL = """\
#include <c10/metal/indexing.h>
#include <metal_stdlib>
struct atan2_functor {
  template <typename T>
  inline T operator()(const T a, const T b) {
    return static_cast<T>(metal::precise::atan2(float(a), float(b)));
  }
};
REGISTER_BINARY_OP(atan2, float, float);
"""
# As PyTorch's mps/operations do, with its kernels bundled or compiled.
HOST = """\
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/BinaryOps.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/mps/OperationUtils.h>
namespace at::native {
#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = mps::MetalShaderLibrary::getBundledLibrary();
#else
#include <ATen/native/mps/Atan_metallib.h>
#endif
static void atan2_mps_kernel(TensorIteratorBase& iter) { lib.exec_binary_kernel(iter, "atan2"); }
REGISTER_DISPATCH(atan2_stub, &atan2_mps_kernel)
}  // namespace at::native
"""
NATIVE = "namespace at::native {\nTORCH_IMPL_FUNC(atan2_out) (const Tensor& self, const Tensor& other, const Tensor& out) {\n"
NATIVE += "  atan2_stub(device_type(), *this);\n}\n}\n"


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "pytorch"
    native = root / "aten" / "src" / "ATen" / "native"
    for folder in (native / "mps" / "kernels", native / "mps" / "operations", root / "torchgen"):
        folder.mkdir(parents=True)
    wheel = pathlib.Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    for name in ("native_functions.yaml", "tags.yaml"):
        shutil.copy(wheel / name, native / name)
    (native / "mps" / "kernels" / "Atan.metal").write_text(METAL)
    (native / "mps" / "kernels" / "Other.metal").write_text("what is this\n")
    (native / "mps" / "operations" / "Atan.mm").write_text(HOST)
    (native / "mps" / "operations" / "Other.mm").write_text("#error of another operator\n")
    (native / "BinaryOps.cpp").write_text(NATIVE)
    return root


def aten(*arguments):
    command = [sys.executable, "-m", "metalloid.aten", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=800)


@pytest.mark.skipif(not shutil.which("clang++"), reason="Objective-C++ needs Clang")
def test_an_operator_of_a_checkout(checkout):
    done = aten("test", checkout, "--op", "atan2", "--samples", "2")
    found = re.search(r"^float32 +yes +(\d+)/(\d+) +(\d+)/(\d+)", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    ran, calls, right, compared = map(int, found.groups())
    assert ran == calls == right == compared > 5, done.stdout
    # The kernel has one type; that others are missing is told and is a failure.
    assert re.search(r"^int64 +no .*missing", done.stdout, re.MULTILINE) and done.returncode == 1, done.stdout


def test_a_stub_that_nobody_registers(checkout):
    host = checkout / "aten/src/ATen/native/mps/operations/Atan.mm"
    host.write_text(host.read_text().replace("REGISTER_DISPATCH(atan2_stub", "REGISTER_DISPATCH(other_stub"))
    done = aten("build", checkout, "--op", "atan2")
    assert done.returncode != 0
    assert re.search(r"native_functions.yaml:\d+: .*'atan2.out'.*REGISTER_DISPATCH\(atan2_stub", done.stderr + done.stdout)
