// Threads of one threadgroup exchange elements through device memory and do not wait at all.
// CHECK: --threads 64 --group 64 --arg x=i16[64]=arange --arg scratch=i16[64]=zeros
// FINDS: device-race write read
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device short* x, device short* scratch, uint i [[thread_position_in_threadgroup]]) {
  scratch[i] = x[i];  // @write
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_device);
#endif
  x[i] = scratch[63 - i];  // @read
}
