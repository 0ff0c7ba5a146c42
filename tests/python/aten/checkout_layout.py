"""The layout of a checkout of PyTorch, with the wheel's native_functions.yaml and a kernel of atan2."""

import pathlib
import shutil

import torchgen

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


def write_checkout(root):
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
