// The first stage leaves only what it keeps, at the places where it was found; the second reads all places.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=normal --arg scratch=f32[64]=undefined --arg out=f32[64]=zeros
// FINDS: uninitialised read
#include <metal_stdlib>
using namespace metal;

kernel void positive(device const float* x, device float* scratch, device float* out,
                     uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  scratch[i] = max(x[i], 0.0f);
#else
  if (x[i] > 0) scratch[i] = x[i];
#endif
  threadgroup_barrier(mem_flags::mem_device);
  out[i] = scratch[63 - i];  // @read
}
