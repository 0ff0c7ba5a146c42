#include "engines/simd/tiles/held_tiles.h"

#include "ir/tile_blocks.h"

namespace metalloid::engines::simd {

void HeldTile::divide(std::int64_t rows, std::int64_t columns, int simdgroups, int simdgroup) {
  const ir::TileBlocks blocks = ir::divide_tile(rows, columns, fragment, simdgroups);
  down = blocks.down;
  across = blocks.across;
  first_row = simdgroup / blocks.blocks_across * down * fragment;
  first_column = simdgroup % blocks.blocks_across * across * fragment;
}

}  // namespace metalloid::engines::simd
