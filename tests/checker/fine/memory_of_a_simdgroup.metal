// Each simdgroup has its own piece of threadgroup memory and waits for its own lanes only, each in its own time.
// CHECK: --threads 128 --group 128 --arg x=u32[128]=arange --arg out=u32[128]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void turned(device const uint* x, device uint* out, uint i [[thread_position_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint memory[4][32];
  uint value = x[i];
  for (uint turn = 0; turn <= simdgroup; ++turn) {
    memory[simdgroup][lane] = value;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    value = memory[simdgroup][(lane + 1) % 32];
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = value;
}
