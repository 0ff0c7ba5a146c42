// What the elementwise kernels of unary, binary and ternary operators have in common; <c10/metal/indexing.h> tells
// which there are and what they take.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

#include <dispatch/dispatch.h>
#include <metalloid/metal/objects.h>
#include <metalloid/metal/turn.h>

#include "tensors.h"
#include "type_names.h"

namespace at::mps {
class MPSStream;
}

namespace at::native::mps::elementwise {

using metalloid::metal::EncoderObject;

// Of kernels whose threads handle several elements side by side. They run where a host file says from how many elements
// on: in step, lanes with an element each read and write whole rows, which is faster.
inline constexpr std::uint32_t elements_per_thread = 4;
// Elements of the innermost dimension from which on a run of them is handled at once.
inline constexpr std::int64_t shortest_run = 16;

// A block of work on the current stream: its encoder, alone.
class Encoding {
 public:
  explicit Encoding(MTLComputePipelineState_t pipeline);
  EncoderObject* operator->() { return &encoder_; }
  EncoderObject& operator*() { return encoder_; }

  template <typename T>
  void set(unsigned index, const T& value) {
    encoder_.set_bytes(index, &value, sizeof(value));
  }
  void set_list(unsigned index, c10::IntArrayRef values) {
    encoder_.set_bytes(index, values.data(), values.size() * sizeof(std::int64_t));
  }
  // The iterator's operand, from where it begins there; numbers on the CPU by value.
  void bind(unsigned index, TensorIteratorBase& iter, int operand);
  void bind_all(TensorIteratorBase& iter);

 private:
  Encoding(at::mps::MPSStream& stream, MTLComputePipelineState_t pipeline);

  metalloid::metal::Turn turn_;
  EncoderObject& encoder_;
};

// The type of an operand as it reaches the kernel: numbers on the CPU come without double precision.
ScalarType bound_type(TensorIteratorBase& iter, int operand);
ScalarType common_type(TensorIteratorBase& iter);

inline int size_of(ScalarType type) { return static_cast<int>(c10::elementSize(type)); }

// The size of dimension 0; of an iterator without dimensions, 1.
inline std::uint64_t inner_size(TensorIteratorBase& iter) {
  return iter.ndim() == 0 ? 1 : static_cast<std::uint64_t>(iter.shape()[0]);
}

// Whether dimension 0 has no gaps in any operand and is long enough to make a difference.
bool has_contiguous_runs(TensorIteratorBase& iter);

template <typename Run>
bool split_into_32bit(TensorIteratorBase& iter, const Run& run) {
  if (iter.can_use_32bit_indexing()) return false;
  for (auto&& part : iter.with_32bit_indexing()) run(part);
  return true;
}

inline std::uint64_t ceil_div(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

// A flavour that tests ask for: "ilp", "scalar", "strided", "inner_contiguous"; none: "".
std::string_view forced_flavor(const char* variable);

}  // namespace at::native::mps::elementwise
