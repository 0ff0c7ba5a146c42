// An array is turned round in place, by a thread for each element in place of one for each pair.
// CHECK: --threads 128 --group 64 --arg x=f32[128]=arange
// FINDS: device-race read write
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device float* x, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  if (i >= 64) return;
  const float other = x[127 - i];
  x[127 - i] = x[i];
  x[i] = other;
#else
  const float other = x[127 - i];  // @read
  x[i] = other;                    // @write
#endif
}
