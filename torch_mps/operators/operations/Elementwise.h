// What hosts of elementwise kernels have in common: numbers and structs beside tensors, and operands
// whose type is not the one that is computed in.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <c10/core/Scalar.h>

#include <string>

namespace at::native::mps {

std::string scalarToMetalTypeString(const c10::ScalarType& type);

namespace elementwise {

// The type in which numbers beside tensors of a type reach a kernel: as precise as what it computes in.
inline c10::ScalarType parameter_type(c10::ScalarType type) {
  if (isComplexType(type)) return kComplexFloat;
  return isFloatingType(type) ? kFloat : type;
}

// Bytes that a kernel gets behind its tensors, and the name of their type in the kernel's name.
struct Parameters {
  const void* bytes;
  size_t size;
  const char* type;
};

// Kernels of REGISTER_UNARY_ALPHA_OP and REGISTER_BINARY_ALPHA_OP whose alpha is a struct. Operands of other
// types than the common one are converted first, and so is the result.
void run(MetalShaderLibrary& library, TensorIteratorBase& iter, const std::string& name, const Parameters& parameters);

template <typename T>
void run_with(MetalShaderLibrary& library, TensorIteratorBase& iter, const std::string& name, const T& value,
              const char* type) {
  run(library, iter, name, {&value, sizeof(value), type});
}

}  // namespace elementwise
}  // namespace at::native::mps

// A stub whose kernels have its name.
#define UNARY_STUB_AS(STUB, KERNEL)                                                            \
  static void STUB##_on_mps(TensorIteratorBase& iter) { lib.exec_unary_kernel(iter, KERNEL); } \
  REGISTER_MPS_DISPATCH(STUB, &STUB##_on_mps)
#define UNARY_STUB(NAME) UNARY_STUB_AS(NAME##_stub, #NAME)
#define BINARY_STUB_AS(STUB, KERNEL)                                                            \
  static void STUB##_on_mps(TensorIteratorBase& iter) { lib.exec_binary_kernel(iter, KERNEL); } \
  REGISTER_MPS_DISPATCH(STUB, &STUB##_on_mps)
#define BINARY_STUB(NAME) BINARY_STUB_AS(NAME##_stub, #NAME)
