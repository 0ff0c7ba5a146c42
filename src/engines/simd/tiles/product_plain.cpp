// Products, copies and held tiles for any processor (src/CMakeLists.txt has the options).
#include "engines/simd/tiles/copy_code.h"
#include "engines/simd/tiles/held_code.h"
#include "engines/simd/tiles/held_product.h"
#include "engines/simd/tiles/product_code.h"

namespace metalloid::engines::simd {

const TileCode plain_code = {pair, multiply, multiply_held, copy, read_held, write_held};

}  // namespace metalloid::engines::simd
