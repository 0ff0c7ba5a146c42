// Lanes of one simdgroup exchange halves through a scratch buffer in device memory, with nothing between.
// CHECK: --threads 96 --group 32 --arg x=f16[96]=arange --arg scratch=f16[96]=zeros
// FINDS: lockstep write read
#include <metal_stdlib>
using namespace metal;

kernel void halves(device half* x, device half* scratch, uint i [[thread_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]]) {
  scratch[i] = x[i];  // @write
#ifdef REPAIRED
  simdgroup_barrier(mem_flags::mem_device);
#endif
  x[i] = scratch[i - lane + (lane + 16) % 32];  // @read
}
