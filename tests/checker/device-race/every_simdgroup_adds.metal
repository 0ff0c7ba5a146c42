// Lane 0 of each simdgroup adds its part to the result: right as long as there is one simdgroup.
// CHECK: --threads 128 --group 128 --arg x=f32[128]=ones --arg out=f32[1]=zeros
// FINDS: device-race add add
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x, device float* out, uint i [[thread_position_in_grid]],
                uint lane [[thread_index_in_simdgroup]]) {
  const float part = simd_sum(x[i]);
#ifdef REPAIRED
  if (lane == 0) atomic_fetch_add_explicit((device atomic_float*)out, part, memory_order_relaxed);
#else
  if (lane == 0) out[0] += part;  // @add
#endif
}
