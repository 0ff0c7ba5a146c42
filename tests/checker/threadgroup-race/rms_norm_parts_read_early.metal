// RMS norm: lane 0 of each simdgroup leaves its part, and the first simdgroup adds the parts up without waiting for
// them.
// CHECK: --threads 256 --group 256 --arg x=f32[256]=uniform
// FINDS: threadgroup-race part add
#include <metal_stdlib>
using namespace metal;

kernel void rms_norm(device float* x, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[8];
  threadgroup float scale;
  const float part = simd_sum(x[i] * x[i]);
  if (lane == 0) parts[simdgroup] = part;  // @part
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  if (simdgroup == 0) {
    const float sum = simd_sum(lane < 8 ? parts[lane] : 0.0f);  // @add
    if (lane == 0) scale = rsqrt(sum / 256 + 1e-5f);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] *= scale;
}
