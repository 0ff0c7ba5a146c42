// The barrier names device memory; what is exchanged lies in threadgroup memory.
// CHECK: --threads 128 --group 128 --arg x=f32[128]=uniform --arg out=f32[1]=zeros
// FINDS: missing-fence part add
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]],
                uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[4];
  const float part = simd_sum(x[i]);
  if (lane == 0) parts[simdgroup] = part;  // @part
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#else
  threadgroup_barrier(mem_flags::mem_device);
#endif
  if (i == 0) out[0] = parts[0] + parts[1] + parts[2] + parts[3];  // @add
}
