// The grid has two threadgroups per row, the kernel was written for one: both write the row's sum, each of its half.
// CHECK: --threadgroups 8 --group 32 --arg x=f32[4,64]=uniform --arg out=f32[4]=zeros
// CHECK REPAIRED: --threadgroups 4 --group 32 --arg x=f32[4,64]=uniform --arg out=f32[4]=zeros
// FINDS: device-race sum sum
#include <metal_stdlib>
using namespace metal;

kernel void row_sums(device const float* x, device float* out, uint lane [[thread_index_in_simdgroup]],
                     uint group [[threadgroup_position_in_grid]]) {
#ifdef REPAIRED
  const uint row = group;
  const float sum = simd_sum(x[row * 64 + lane] + x[row * 64 + 32 + lane]);
#else
  const uint row = group / 2;
  const float sum = simd_sum(x[group * 32 + lane]);
#endif
  if (lane == 0) out[row] = sum;  // @sum
}
