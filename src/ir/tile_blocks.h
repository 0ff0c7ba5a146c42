// How simdgroups divide a tile that they hold (operations.def), for code that runs beside kernels, too.
#pragma once

#include <cstdint>

namespace metalloid::ir {

// Fragments of a simdgroup's block; blocks lie in rows of `blocks_across`.
struct TileBlocks {
  std::int64_t down = 0, across = 0, blocks_across = 1;
};

// rows, columns, fragment: elements, of a fragment's side. The blocks with the fewest fragments, then the least height
// and width together, then the fewest rows of blocks.
inline TileBlocks divide_tile(std::int64_t rows, std::int64_t columns, std::int64_t fragment, std::int64_t simdgroups) {
  const auto divided = [](std::int64_t count, std::int64_t by) { return (count + by - 1) / by; };
  TileBlocks best;
  for (std::int64_t high = 1; high <= simdgroups; ++high) {
    if (simdgroups % high != 0) continue;
    const std::int64_t down = divided(divided(rows, fragment), high);
    const std::int64_t across = divided(divided(columns, fragment), simdgroups / high);
    const std::int64_t area = down * across, known = best.down * best.across;
    if (known != 0 && (area > known || (area == known && down + across >= best.down + best.across))) continue;
    best = {down, across, simdgroups / high};
  }
  return best;
}

}  // namespace metalloid::ir
