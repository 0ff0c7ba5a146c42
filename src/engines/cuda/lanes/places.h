// Where the elements of an 8x8 matrix lie in the lanes of a simdgroup (ir/operations.def).
#pragma once

#include <array>
#include <cstdint>

namespace metalloid::engines::cuda {

// Lane bits that hold a row, 4, 2 and 1, and those that hold a column's 4 and 2; columns' 1 is which of the pair.
inline constexpr std::array<unsigned, 3> row_bits = {1, 2, 4};  // of row bit 0, 1, 2
inline constexpr std::array<unsigned, 2> column_bits = {0, 3};  // of column bit 1, 2
inline constexpr std::uint32_t row_mask = 0b10110, column_mask = 0b01001;

constexpr std::uint32_t lane_row(unsigned row) {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 3; ++i) bits |= ((row >> i) & 1) << row_bits[i];
  return bits;
}
constexpr std::uint32_t lane_column(unsigned column) {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 2; ++i) bits |= ((column >> (i + 1)) & 1) << column_bits[i];
  return bits;
}

}  // namespace metalloid::engines::cuda
