// What generated code asks where a row of 32 lanes may wrap (widening/wraps.cpp).
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace metalloid::engines::simd {

// By how much lanes grow with a bit of their number that nothing is known of.
inline constexpr std::int64_t unknown_growth = std::numeric_limits<std::int64_t>::min();

// Runtime entry points that end the dispatch if one of `lanes` has not the value that its accesses take from others.
// `values` has the 32 lanes' own ones; the texts are those of a check of bounds (ir/bounds/check_bounds.h), or
// null.
//
//   void check_row(state, u32 first thread, i64* values, u32 lanes, i64 first, i64 stride, char* what, char* access)
//   void check_runs(state, u32 first thread, i64* values, u32 lanes, i64* growth, char* what, char* access)
//
// The second is of accesses that take a lane's value from one with more of the bits that it grows with, which need not
// take part, and with other ones of those that it does not change with. `growth` has that of the five bits.
inline constexpr std::string_view check_row_name = "metalloid_check_row";
inline constexpr std::string_view check_runs_name = "metalloid_check_runs";

// The entry point of that name, or null.
void* wrapped_rows_symbol(std::string_view name);

}  // namespace metalloid::engines::simd
