// Rare arguments of vector math (ir/math/rare_arguments.h) as functions of this library: code for them in each kernel
// would be a waste. Kernels call them by name, behind a branch on "any lane", with vectors in memory; results of other
// lanes than the rare ones are not written.
#pragma once

#include <cstdint>
#include <string_view>

namespace metalloid::engines::simd {

// x less the nearest multiple of a quarter turn, and that multiple as far as its last two bits go.
void reduce_large_angles(const float* x, float* rest, std::int32_t* quarter, std::uint32_t count);

void large_remainders(const float* x, const float* y, float* results, std::uint32_t count);

void unusual_powers(const float* x, const float* y, float* results, std::uint32_t count);

// Their addresses by the names that code has for them; null for others. For LoadedCode.
void* vector_math_symbol(std::string_view name);

}  // namespace metalloid::engines::simd
