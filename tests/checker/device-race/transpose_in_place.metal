// A square matrix is transposed in place by a thread per element: each pair is exchanged by two threads.
// CHECK: --threads 16,16 --group 8,8 --arg x=f32[16,16]=arange
// FINDS: device-race read write
#include <metal_stdlib>
using namespace metal;

kernel void transpose(device float* x, uint2 p [[thread_position_in_grid]]) {
#ifdef REPAIRED
  if (p.x <= p.y) return;
  const float upper = x[p.y * 16 + p.x];
  x[p.y * 16 + p.x] = x[p.x * 16 + p.y];
  x[p.x * 16 + p.y] = upper;
#else
  const float own = x[p.y * 16 + p.x];  // @read
  x[p.x * 16 + p.y] = own;              // @write
#endif
}
