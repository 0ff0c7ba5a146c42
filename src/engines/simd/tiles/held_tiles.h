// Tiles that the threads of simdgroups hold: where their elements are (ir/operations.def).
#pragma once

#include <cstddef>
#include <cstdint>

namespace metalloid::engines::simd {

// A simdgroup's part of one, which has whole fragments.
struct HeldTile {
  HeldTile(std::byte* address, std::int64_t rows, std::int64_t columns, int fragment, int simdgroups, int simdgroup,
           std::int64_t lane_distance, int element);

  std::int64_t rows() const { return down * fragment; }
  std::int64_t columns() const { return across * fragment; }

  std::byte* address;  // of what the first lane holds
  int fragment;
  std::int64_t down, across;             // fragments
  std::int64_t first_row, first_column;  // of the tile
  // Bytes: between two lanes, between two elements of a lane, of an element. Lanes' elements take turns, or a lane's
  // follow each other.
  std::int64_t lane_distance, element_distance;
  int element;
};

// Where rows of a held tile are, or go to: every `group` columns are rows of their own. Distances in bytes.
struct HeldRows {
  std::byte* address;
  std::int64_t row;  // from one row to the next
  std::int64_t group = INT64_MAX, group_distance = 0;
};

}  // namespace metalloid::engines::simd
