// Rows are added into places that an array names, which names some of them twice.
// CHECK: --threads 8 --group 8 --arg x=i32[8]=arange --arg places=u32[8]=0,1,2,3,3,2,4,5 --arg out=i32[8]=zeros
// FINDS: device-race add add
#include <metal_stdlib>
using namespace metal;

kernel void index_add(device const int* x, device const uint* places, device int* out,
                      uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  atomic_fetch_add_explicit((device atomic_int*)&out[places[i]], x[i], memory_order_relaxed);
#else
  out[places[i]] += x[i];  // @add
#endif
}
