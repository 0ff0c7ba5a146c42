// Bytes to kernels: every input is a kernel that is valid, ends, stays within its memory, and has one right result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace metalloid::fuzz {

struct GeneratedKernel {
  // A kernel `generated` that uses the ints c0 to c2 and the float c3, which the caller declares in front of it.
  std::string text;
  std::vector<std::int64_t> constants;  // of c0 to c2
  double c3;
  std::uint32_t threads, group;
};

GeneratedKernel generate(std::span<const std::uint8_t> bytes);

}  // namespace metalloid::fuzz
