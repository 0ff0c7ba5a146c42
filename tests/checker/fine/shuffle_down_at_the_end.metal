// Lanes whose source lies behind the last lane keep their own value; nobody uses it.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=ones --arg out=f32[2]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_grid]],
                 ushort lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  float sum = x[i];
  for (ushort delta = 16; delta > 0; delta /= 2) sum += simd_shuffle_down(sum, delta);
  if (lane == 0) out[simdgroup] = sum;
}
