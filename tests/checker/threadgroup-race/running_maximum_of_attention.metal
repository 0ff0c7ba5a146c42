// Attention over blocks of keys: thread 0 keeps the largest score so far in threadgroup memory and replaces it while
// other threads still look at what it was before.
// CHECK: --threads 64 --group 64 --arg scores=f32[256]=normal --arg out=f32[64]=zeros
// FINDS: threadgroup-race look replace
#include <metal_stdlib>
using namespace metal;

kernel void attend(device const float* scores, device float* out, uint i [[thread_position_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float running, parts[2];
  if (i == 0) running = -1e9f;
  float sum = 0;
  for (uint block = 0; block < 4; ++block) {
    const float score = scores[block * 64 + i], largest = simd_max(score);
    if (lane == 0) parts[simdgroup] = largest;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float before = running;  // @look
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (i == 0) running = max(before, max(parts[0], parts[1]));  // @replace
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum = sum * exp(before - running) + exp(score - running);
  }
  out[i] = sum;
}
