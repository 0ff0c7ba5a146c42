// A histogram over [0, 1]: the value 1 has no bin.
// CHECK: --threads 5 --group 5 --arg x=f32[5]=0,0.3,0.5,0.99,1 --arg bins=u32[10]=zeros
// FINDS: out-of-bounds count
#include <metal_stdlib>
using namespace metal;

kernel void histogram(device const float* x, device atomic_uint* bins, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  const uint bin = min(uint(x[i] * 10), 9u);
#else
  const uint bin = uint(x[i] * 10);
#endif
  atomic_fetch_add_explicit(&bins[bin], 1, memory_order_relaxed);  // @count
}
