// Each thread has as many rounds as its row has blocks, the barrier is in the loop, and behind it threads only store what
// they have. Those with short rows are through while others wait.
// CHECK: --threads 64 --group 64 --arg lengths=u32[64]=arange --arg x=f32[64]=ones --arg out=f32[64]=zeros
// FINDS: barrier-divergence wait
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const uint* lengths, device const float* x, device float* out,
                 uint i [[thread_position_in_threadgroup]]) {
  threadgroup float block[64];
  float sum = 0;
#ifdef REPAIRED
  const uint rounds = 4;
#else
  const uint rounds = lengths[i] / 16 + 1;
#endif
  for (uint k = 0; k < rounds; ++k) {
    block[i] = k <= lengths[i] / 16 ? x[i] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @wait
    sum += block[i];
  }
  out[i] = sum;
}
