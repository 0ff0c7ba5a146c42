// Tiles that the threads of simdgroups hold: where their elements are (ir/operations.def).
#pragma once

#include <cstddef>
#include <cstdint>

namespace metalloid::engines::simd {

// A simdgroup's part of one, which has whole fragments.
struct HeldTile {
  HeldTile(std::byte* held, std::int64_t rows, std::int64_t columns, int fragment_size, int simdgroups, int simdgroup,
           std::int64_t distance, int bytes)
      : address(held), fragment(fragment_size), lane_distance(distance), element(bytes) {
    element_distance = distance == bytes ? std::int64_t{32} * bytes : bytes;
    if (simdgroups != 1) {
      divide(rows, columns, simdgroups, simdgroup);
      return;
    }
    const int shift = fragment == 8 ? 3 : 4;  // most are one simdgroup's: spare them the divisions
    down = (rows + fragment - 1) >> shift;
    across = (columns + fragment - 1) >> shift;
    first_row = first_column = 0;
  }

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

 private:
  void divide(std::int64_t rows, std::int64_t columns, int simdgroups, int simdgroup);
};

// Where rows of a held tile are, or go to: every `group` columns are rows of their own. Distances in bytes.
struct HeldRows {
  std::byte* address;
  std::int64_t row;  // from one row to the next
  std::int64_t group = INT64_MAX, group_distance = 0;
};

}  // namespace metalloid::engines::simd
