// How tensors and numbers reach an encoder.
#pragma once

#include <ATen/core/TensorBase.h>
#include <c10/core/Scalar.h>

#include <cstddef>
#include <span>

#include <metalloid/metal/objects.h>

namespace at {
struct TensorIteratorBase;
}

namespace metalloid::torch_host {

// A tensor on mps as its memory; one on the CPU without dimensions by value, double as float. Throws c10::Error for
// other tensors on the CPU.
void bind_tensor(metal::EncoderObject& encoder, const at::TensorBase& tensor, unsigned index);

// Where it begins: the address of its storage and its offset in there.
void bind_memory(metal::EncoderObject& encoder, const at::TensorBase& tensor, std::size_t offset, unsigned index);

// What the address of a tensor's first element leads to, for the next dispatch of this thread: the tensor is kept till
// then.
std::byte* addressed(const at::TensorBase& tensor);
void use_addressed(Dispatch& dispatch);

// A number as Metal has it: double as float, half and bfloat in two bytes, integers at their own width.
struct Number {
  std::size_t size = 0;
  alignas(8) std::byte bytes[8] = {};
  std::span<const std::byte> span() const { return {bytes, size}; }
};
Number number_of(const c10::Scalar& scalar, c10::ScalarType type);

}  // namespace metalloid::torch_host
