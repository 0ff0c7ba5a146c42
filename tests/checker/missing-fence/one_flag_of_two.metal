// A stage leaves data in both memories, and its barrier names one of them.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange --arg scratch=f32[64]=zeros
// FINDS: missing-fence far_write far_read
#include <metal_stdlib>
using namespace metal;

kernel void stages(device float* x, device float* scratch, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float near[64];
  near[i] = x[i] + 1;
  scratch[i] = x[i] * 2;  // @far_write
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
#else
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  const float a = near[63 - i];
  const float b = scratch[63 - i];  // @far_read
  x[i] = a + b;
}
