// A threadgroup writes data and raises an atomic flag; another one sees the flag and reads the data. Relaxed atomics
// order nothing but themselves.
// CHECK: --threads 64 --group 32 --arg data=u32[32]=zeros --arg flag=u32[1]=zeros --arg out=u32[32]=zeros
// FINDS: device-race write read
#include <metal_stdlib>
using namespace metal;

kernel void hand_over(device uint* data, device atomic_uint* flag, device uint* out,
                      uint lane [[thread_index_in_simdgroup]], uint group [[threadgroup_position_in_grid]]) {
#ifdef REPAIRED
  device atomic_uint* shared = (device atomic_uint*)data;
  if (group == 0) {
    atomic_store_explicit(shared + lane, lane + 1, memory_order_relaxed);
  } else {
    out[lane] = atomic_load_explicit(shared + lane, memory_order_relaxed);
  }
#else
  if (group == 0) {
    data[lane] = lane + 1;  // @write
    if (lane == 31) atomic_store_explicit(flag, 1, memory_order_relaxed);
  } else if (atomic_load_explicit(flag, memory_order_relaxed) < 2) {
    out[lane] = data[31 - lane];  // @read
  }
#endif
}
