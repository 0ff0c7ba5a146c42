// The threads of a threadgroup exchange elements through a scratch buffer in device memory; the barrier names
// threadgroup memory only.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange --arg scratch=f32[64]=zeros
// FINDS: missing-fence write read
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device float* x, device float* scratch, uint i [[thread_position_in_threadgroup]]) {
  scratch[i] = x[i];  // @write
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_device);
#else
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  x[i] = scratch[63 - i];  // @read
}
