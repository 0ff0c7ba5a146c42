// Paged attention: the table of pages is padded with a number that stands for no page, and the number of pages is
// rounded up.
// CHECK: --threads 32 --group 32 --arg cache=f16[4,8,32]=uniform --arg pages=i32[4]=3,0,99999999,99999999 --arg out=f16[32]=zeros --arg tokens=11
// FINDS: out-of-bounds key
#include <metal_stdlib>
using namespace metal;

kernel void sum_of_keys(device const half* cache, device const int* pages, device half* out, constant uint& tokens,
                        uint i [[thread_position_in_grid]]) {
  half sum = 0;
  for (uint page = 0; page < 4; ++page) {
    for (uint token = 0; token < 8; ++token) {
#ifdef REPAIRED
      if (page * 8 + token >= tokens) break;
#endif
      const long at = (long(pages[page]) * 8 + token) * 32 + i;
      sum += cache[at];  // @key
    }
  }
  out[i] = sum;
}
