// bfloat, the upper half of a float, as its bits: not every compiler of C++20 has a type for it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace metalloid::support {

inline float bfloat16_to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// Rounds to nearest even.
inline std::uint16_t double_to_bfloat16(double value) {
  const float narrowed = static_cast<float>(value);
  auto bits = std::bit_cast<std::uint32_t>(narrowed);
  if (std::isnan(narrowed))
    return static_cast<std::uint16_t>(bits >> 16 | 0x40);  // also where its lower half alone says so
  if (std::isinf(narrowed)) return static_cast<std::uint16_t>(bits >> 16);
  // Rounding twice could be wrong; keep the bits that were lost as a sticky last bit.
  if (static_cast<double>(narrowed) != value) {
    if (std::abs(static_cast<double>(narrowed)) > std::abs(value)) --bits;
    bits |= 1;
  }
  bits += 0x7fff + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>(bits >> 16);
}

}  // namespace metalloid::support
