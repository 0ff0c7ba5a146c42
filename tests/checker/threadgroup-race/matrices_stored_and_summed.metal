// Four simdgroups leave a product of matrices each in threadgroup memory, and one thread per element adds the four up.
// CHECK: --threads 128 --group 128 --arg a=f32[4,64]=uniform --arg out=f32[64]=zeros
// FINDS: threadgroup-race store add
#include <metal_stdlib>
using namespace metal;

kernel void products(device const float* a, device float* out, uint i [[thread_position_in_threadgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[4][64];
  simdgroup_float8x8 left, product;
  simdgroup_load(left, a + simdgroup * 64, 8);
  simdgroup_multiply(product, left, left);
  simdgroup_store(product, parts[simdgroup], 8);  // @store
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  if (i < 64) out[i] = parts[0][i] + parts[1][i] + parts[2][i] + parts[3][i];  // @add
}
