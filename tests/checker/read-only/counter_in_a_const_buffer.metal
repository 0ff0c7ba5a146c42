// A counter at the end of a buffer of inputs, which the kernel declares const and counts up atomically.
// CHECK: --threads 8 --group 8 --arg x=u32[9]=ones --arg out=u32[8]=zeros
// FINDS: read-only count
#include <metal_stdlib>
using namespace metal;

kernel void number(device const uint* x, device uint* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  out[i] = simd_prefix_exclusive_sum(x[i]);
#else
  out[i] = atomic_fetch_add_explicit((device atomic_uint*)(x + 8), x[i], memory_order_relaxed);  // @count
#endif
}
