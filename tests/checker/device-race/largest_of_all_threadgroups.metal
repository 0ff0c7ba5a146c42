// The first thread of each threadgroup compares its largest with that of all, and replaces value and index: plainly,
// while those of the other threadgroups do the same.
// CHECK: --threads 128 --group 32 --arg x=f32[128]=arange --arg value=f32[1]=zeros --arg index=u32[1]=zeros --arg keys=u64[1]=zeros
// FINDS: device-race look value
// FINDS: device-race value value
// FINDS: device-race index index
#include <metal_stdlib>
using namespace metal;

kernel void argmax(device const float* x, device float* value, device uint* index, device atomic_ulong* keys,
                   uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const float largest = simd_max(x[i]);
  const uint at = simd_min(x[i] == largest ? i : ~0u);
  if (lane > 0) return;
#ifdef REPAIRED
  atomic_max_explicit(keys, ulong(as_type<uint>(largest)) << 32 | at, memory_order_relaxed);
#else
  if (largest > value[0]) {  // @look
    value[0] = largest;      // @value
    index[0] = at;           // @index
  }
#endif
}
