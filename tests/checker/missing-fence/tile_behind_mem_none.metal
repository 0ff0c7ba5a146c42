// A loop over tiles with barriers on both sides, of which the first one fences nothing.
// CHECK: --kernel sums_half --threads 64 --group 64 --arg x=f16[4,64]=uniform --arg out=f32[64]=zeros
// FINDS: missing-fence load use
#include <metal_stdlib>
using namespace metal;

template <typename T, uint tiles>
kernel void sums(device const T* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup T tile[64];
  float sum = 0;
  for (uint k = 0; k < tiles; ++k) {
    tile[i] = x[k * 64 + i];  // @load
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#else
    threadgroup_barrier(mem_flags::mem_none);
#endif
    sum += float(tile[63 - i]);  // @use
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = sum;
}

template [[host_name("sums_half")]] kernel void sums<half, 4>(device const half*, device float*,
                                                             uint [[thread_position_in_threadgroup]]);
