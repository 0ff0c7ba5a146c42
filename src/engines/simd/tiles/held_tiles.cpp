#include "engines/simd/tiles/held_tiles.h"

namespace metalloid::engines::simd {
namespace {

constexpr int lanes = 32;

std::int64_t divided(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

}  // namespace

HeldTile::HeldTile(std::byte* held, std::int64_t rows, std::int64_t columns, int fragment_size, int simdgroups,
                   int simdgroup, std::int64_t distance, int bytes)
    : address(held), fragment(fragment_size), lane_distance(distance), element(bytes) {
  element_distance = distance == bytes ? std::int64_t{lanes} * bytes : bytes;
  if (simdgroups == 1) {  // most are one's: spare them the divisions
    down = fragment == 8 ? divided(rows, 8) : divided(rows, 16);
    across = fragment == 8 ? divided(columns, 8) : divided(columns, 16);
    first_row = first_column = 0;
    return;
  }
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
