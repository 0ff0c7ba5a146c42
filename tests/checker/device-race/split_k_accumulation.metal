// A product whose inner dimension is split over threadgroups (z of the grid): all of them add to the same outputs.
// CHECK: --threads 32,1,4 --group 32,1,1 --arg a=f32[32,16]=uniform --arg b=f32[16]=uniform --arg c=f32[32]=zeros
// FINDS: device-race add add
#include <metal_stdlib>
using namespace metal;

kernel void split_k(device const float* a, device const float* b, device float* c,
                    uint3 p [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = p.z * 4; k < p.z * 4 + 4; ++k) sum += a[p.x * 16 + k] * b[k];
#ifdef REPAIRED
  atomic_fetch_add_explicit((device atomic_float*)c + p.x, sum, memory_order_relaxed);
#else
  c[p.x] += sum;  // @add
#endif
}
