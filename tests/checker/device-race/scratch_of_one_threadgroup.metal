// Scratch in device memory is indexed by the position in the threadgroup, so that all threadgroups share the first
// piece.
// CHECK: --threads 128 --group 64 --arg x=f32[128]=arange --arg scratch=f32[128]=zeros
// FINDS: device-race write write
// FINDS: device-race write read
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device float* x, device float* scratch, uint g [[thread_position_in_grid]],
                     uint i [[thread_position_in_threadgroup]]) {
#ifdef REPAIRED
  device float* own = scratch + (g - i);
#else
  device float* own = scratch;
#endif
  own[i] = x[g];  // @write
  threadgroup_barrier(mem_flags::mem_device);
  x[g] = own[63 - i];  // @read
}
