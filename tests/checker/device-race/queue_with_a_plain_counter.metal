// Threadgroups take their work from a queue, by reading a counter and writing it back one higher: two of them may take
// the same item.
// CHECK: --threadgroups 4 --group 32 --arg next=u32[1]=zeros --arg out=u32[32]=zeros
// FINDS: device-race take advance
// FINDS: device-race advance advance
#include <metal_stdlib>
using namespace metal;

kernel void workers(device uint* next, device uint* out, uint lane [[thread_index_in_simdgroup]],
                    uint group [[threadgroup_position_in_grid]]) {
  uint item = 0;
#ifdef REPAIRED
  if (lane == 0) item = atomic_fetch_add_explicit((device atomic_uint*)next, 1, memory_order_relaxed);
#else
  if (lane == 0) {
    item = *next;      // @take
    *next = item + 1;  // @advance
  }
#endif
  item = simd_broadcast_first(item);
  if (lane == 0) out[group * 8 + item] = item + 1;
}
