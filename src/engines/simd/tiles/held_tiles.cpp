#include "engines/simd/tiles/held_tiles.h"

namespace metalloid::engines::simd {
namespace {

std::int64_t divided(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

}  // namespace

void HeldTile::divide(std::int64_t rows, std::int64_t columns, int simdgroups, int simdgroup) {
  std::int64_t blocks_across = 1;
  down = across = 0;
  for (int high = 1; high <= simdgroups; ++high) {
    if (simdgroups % high != 0) continue;
    const std::int64_t d = divided(divided(rows, fragment), high);
    const std::int64_t a = divided(divided(columns, fragment), simdgroups / high);
    if (down != 0 && (d * a > down * across || (d * a == down * across && d + a >= down + across))) continue;
    down = d;
    across = a;
    blocks_across = simdgroups / high;
  }
  first_row = simdgroup / blocks_across * down * fragment;
  first_column = simdgroup % blocks_across * across * fragment;
}

}  // namespace metalloid::engines::simd
