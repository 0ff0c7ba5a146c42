// Attention over a block of keys by one threadgroup: the last keys of the block do not exist and their scores are not
// set, the largest score is read before every simdgroup has left its own, and the values are read by rows of another
// length.
// CHECK: --threads 64 --group 64 --arg q=f32[8]=uniform --arg keys=f32[60,8]=uniform --arg values=f32[60,8]=uniform --arg out=f32[8]=zeros --arg n=60
// FINDS: uninitialised weight
// FINDS: threadgroup-race leave largest
// FINDS: out-of-bounds value
#include <metal_stdlib>
using namespace metal;

kernel void attend(device const float* q, device const float* keys, device const float* values, device float* out,
                   constant uint& n, uint i [[thread_position_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float weights[64], parts[2];
  float score = -1e9f;
  if (i < n) {
    score = 0;
    for (uint d = 0; d < 8; ++d) score += q[d] * keys[i * 8 + d];
  }
  const float own = simd_max(score);
  if (lane == 0) parts[simdgroup] = own;  // @leave
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
  weights[i] = i < n ? exp(score - max(own, parts[1 - simdgroup])) : 0;
  const uint stride = 8;
#else
  const float largest = max(own, parts[1 - simdgroup]);  // @largest
  if (i < n) weights[i] = exp(score - largest);
  const uint stride = 9;
#endif
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i >= 8) return;
  float sum = 0, total = 0;
  for (uint k = 0; k < 64; ++k) {
    const float weight = weights[k];  // @weight
    total += weight;
    if (k < n) sum += weight * values[k * stride + i];  // @value
  }
  out[i] = sum / total;
}
