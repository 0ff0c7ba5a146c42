// Threads of one threadgroup exchange elements through device memory behind a barrier with its flag; each threadgroup
// has its own piece.
// CHECK: --threads 256 --group 64 --arg x=f32[256]=arange --arg scratch=f32[256]=undefined
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device float* x, device float* scratch, uint g [[thread_position_in_grid]],
                     uint i [[thread_position_in_threadgroup]]) {
  scratch[g] = x[g];
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  x[g] = scratch[g - i + 63 - i];
}
