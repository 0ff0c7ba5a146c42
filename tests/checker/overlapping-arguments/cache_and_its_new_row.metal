// Attention: the new key is given as a piece of the cache to which it is appended, and not as an array of its own.
// CHECK: --threads 16 --group 16 --arg cache=f16[4,16]=arange --arg key=@cache+80 --arg row=2
// CHECK REPAIRED: --threads 16 --group 16 --arg cache=f16[4,16]=arange --arg key=f16[16]=ones --arg row=2
// FINDS: overlapping-arguments
#include <metal_stdlib>
using namespace metal;

kernel void append(device half* cache, device const half* key, constant uint& row,
                   uint i [[thread_position_in_grid]]) {
  cache[row * 16 + i] = key[i] * 2;
}
