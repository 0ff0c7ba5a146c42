"""The texts of new.py. ``@NAME@`` and its like are filled in."""

NEW_ENTRIES = """
- func: @NAME@(@SCHEMA@) -> Tensor
  structured_delegate: @NAME@.out
  variants: function, method

- func: @NAME@.out(@SCHEMA@, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  device_check: NoCheck   # TensorIterator
  dispatch:
    CPU, MPS: @NAME@_out
  tags: pointwise
"""

NEW_DERIVATIVES = """
- name: @NAME@(@SCHEMA@) -> Tensor
  self: grad # the derivative of what @NAME@ computes
"""

STUB = """
#pragma once

#include <ATen/native/DispatchStub.h>

namespace at {
struct TensorIteratorBase;
}

namespace at::native {

using @NAME@_fn = void (*)(TensorIteratorBase&);
DECLARE_DISPATCH(@NAME@_fn, @NAME@_stub)

} // namespace at::native
"""

SHAPES = """
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/@NAME@.h>

#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/ops/@NAME@_meta.h>
#include <ATen/ops/@NAME@_native.h>

namespace at::meta {

// Shape and type of the result.
TORCH_META_FUNC(@NAME@)(@TENSORS@) {
  @BUILD@(maybe_get_output(), @ARGUMENTS@);
}

} // namespace at::meta

namespace at::native {

DEFINE_DISPATCH(@NAME@_stub);

TORCH_IMPL_FUNC(@NAME@_out)(@TENSORS@, const Tensor& out) {
  @NAME@_stub(device_type(), *this);
}

} // namespace at::native
"""

CPU_KERNEL = """
#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/@NAME@.h>

#include <ATen/Dispatch.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/cpu/Loops.h>

namespace at::native {
namespace {

void @NAME@_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.common_dtype(), "@NAME@_cpu", [&] {
    cpu_kernel(iter, [](@SCALARS@) -> scalar_t {
      return self; // what @NAME@ computes
    });
  });
}

} // namespace

REGISTER_DISPATCH(@NAME@_stub, &@NAME@_kernel)

} // namespace at::native
"""

_FUNCTOR_HEAD = """
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>

using namespace metal;
using namespace c10::metal;

"""

_REGISTER_FLOATS = """
@MACRO@(@NAME@, float, float);
@MACRO@(@NAME@, half, half);
@MACRO@(@NAME@, bfloat, bfloat);
"""

_REGISTER_INTEGERS = """
@MACRO@(@NAME@, long, float);
@MACRO@(@NAME@, int, float);
@MACRO@(@NAME@, short, float);
@MACRO@(@NAME@, uchar, float);
@MACRO@(@NAME@, char, float);
@MACRO@(@NAME@, bool, float);
"""

UNARY_FUNCTOR = (
    _FUNCTOR_HEAD
    + """\
struct @NAME@_functor {
  template <typename T, enable_if_t<is_floating_point_v<T>, bool> = true>
  inline T operator()(const T self) {
    return self; // what @NAME@ computes
  }
  template <typename T, enable_if_t<is_integral_v<T>, bool> = true>
  inline float operator()(const T self) {
    return (*this)(float(self));
  }
};
"""
    + _REGISTER_FLOATS
    + _REGISTER_INTEGERS.lstrip("\n")
)

BINARY_FUNCTOR = (
    _FUNCTOR_HEAD
    + """\
struct @NAME@_functor {
  template <typename T, enable_if_t<is_floating_point_v<T>, bool> = true>
  inline T operator()(const T self, const T other) {
    return self; // what @NAME@ computes
  }
  template <typename T, enable_if_t<is_integral_v<T>, bool> = true>
  inline float operator()(const T self, const T other) {
    return (*this)(float(self), float(other));
  }
};
"""
    + _REGISTER_FLOATS
    + _REGISTER_INTEGERS.lstrip("\n")
)

TERNARY_FUNCTOR = (
    _FUNCTOR_HEAD
    + """\
struct @NAME@_functor {
  template <typename T>
  inline T operator()(const T self, const T first, const T second) {
    return self; // what @NAME@ computes
  }
};
"""
    + _REGISTER_FLOATS
)

OPERATION = """
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <@STUB_HEADER@>

#include <ATen/native/DispatchStub.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

namespace at::native {

#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = mps::MetalShaderLibrary::getBundledLibrary();
#else
#include <ATen/native/mps/@NAME@_metallib.h>
#endif

static void @NAME@_mps_kernel(TensorIteratorBase& iter) {
  lib.exec_@KIND@_kernel(iter, "@NAME@");
}

@REGISTER@(@STUB@, &@NAME@_mps_kernel)

} // namespace at::native
"""
