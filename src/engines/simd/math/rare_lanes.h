// What vector math leaves to this library: arguments so rare that code for them in each kernel would be a waste.
// Kernels call these functions by name, behind a branch on "any lane", with vectors in memory; results of other lanes
// than the rare ones are not written.
#pragma once

#include <cstdint>
#include <string_view>

namespace metalloid::engines::simd {

// Angles of this size and above, infinite ones too.
inline constexpr double large_angle = 0x1p17;
// x less the nearest multiple of a quarter turn, and that multiple as far as its last two bits go.
void reduce_large_angles(const float* x, float* rest, std::int32_t* quarter, std::uint32_t count);

// Quotients of fmod of this size and above, and those that are no numbers.
inline constexpr double large_quotient = 0x1p22;
void large_remainders(const float* x, const float* y, float* results, std::uint32_t count);

// Powers are ordinary of zero and of positive normal numbers, with finite exponents of at least 2^-100.
inline constexpr std::uint32_t smallest_normal = 0x00800000, infinity_bits = 0x7f800000, smallest_exponent = 0x0d800000;
void unusual_powers(const float* x, const float* y, float* results, std::uint32_t count);

// Their addresses by the names that code has for them; null for others. For LoadedCode.
void* vector_math_symbol(std::string_view name);

}  // namespace metalloid::engines::simd
