// The same with an unsigned index: 0 - 1 is 4294967295, sixteen gigabytes away.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange --arg out=f32[64]=zeros
// FINDS: out-of-bounds left
#include <metal_stdlib>
using namespace metal;

kernel void difference(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  const float left = x[max(i, 1u) - 1];
#else
  const float left = x[i - 1];  // @left
#endif
  out[i] = x[i] - left;
}
