// One run of an example kernel, with what it should compute in double precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "metalloid/metalloid.h"

namespace demo {

struct Example {
  std::string file;  // in examples/kernels/
  std::string kernel;
  metalloid::FunctionConstants constants = {};
  metalloid::Dispatch dispatch = {};
  metalloid::Buffer output{0};
  metalloid::ElementType output_kind = metalloid::ElementType::float32;
  std::vector<double> expected = {};  // one per element of the output
  double tolerance = 0;               // of |got - expected| / max(1, |expected|)
};

// The examples, by what they show.
std::vector<Example> elementwise_examples();
std::vector<Example> reduction_examples();
std::vector<Example> matrix_examples();
std::vector<Example> threadgroup_memory_examples();
std::vector<Example> attention_examples();
std::vector<Example> radix_sort_examples();

// The same numbers in every run.
inline std::mt19937_64 reproducible(unsigned seed) { return std::mt19937_64(seed); }

// Reproducible inputs, with the element type rounding them once.
template <typename T>
metalloid::Buffer random_buffer(std::size_t count, unsigned seed, double low = -2, double high = 2) {
  std::mt19937_64 generator = reproducible(seed);
  metalloid::Buffer buffer(count * sizeof(T));
  for (T& value : buffer.as<T>()) {
    value = static_cast<T>(low + (high - low) * static_cast<double>(generator() >> 11) * 0x1p-53);
  }
  return buffer;
}

// bfloat16 as a host without the type sees it.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(double value) {  // truncates: any bfloat16 will do as an input
    const float narrowed = static_cast<float>(value);
    std::uint32_t all;
    std::memcpy(&all, &narrowed, sizeof all);
    bits = static_cast<std::uint16_t>(all >> 16);
  }
  explicit operator double() const {
    const std::uint32_t all = std::uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &all, sizeof value);
    return value;
  }
};

}  // namespace demo
