// Rows of ten halves, and a store of four of them at once: the second row begins at byte 20.
// CHECK: --threads 2 --group 2 --arg out=f16[2,10]=zeros
// FINDS: misaligned store
#include <metal_stdlib>
using namespace metal;

kernel void fill(device half* out, uint row [[thread_position_in_grid]]) {
  device half* own = out + row * 10;
#ifdef REPAIRED
  for (uint k = 0; k < 4; ++k) own[k] = half(row + 1);
#else
  *(device half4*)own = half4(half(row + 1));  // @store
#endif
}
