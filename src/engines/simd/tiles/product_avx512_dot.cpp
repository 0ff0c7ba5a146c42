// Products, copies and held tiles for processors with AVX-512, BF16 and VNNI (src/CMakeLists.txt has the options).
#include "engines/simd/tiles/copy_code.h"
#include "engines/simd/tiles/held_code.h"
#include "engines/simd/tiles/held_product.h"
#include "engines/simd/tiles/product_code.h"

#if defined(__x86_64__)
namespace metalloid::engines::simd {

const TileCode avx512_dot_code = {pair, multiply, multiply_held, copy, read_held, write_held};

}  // namespace metalloid::engines::simd
#endif
