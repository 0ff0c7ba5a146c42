// Four numbers are read as one vector from a tile in threadgroup memory, from any of its elements on.
// CHECK: --threads 32 --group 32 --arg x=f32[36]=arange --arg out=f32[32]=zeros
// FINDS: misaligned read
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float tile[36];
  tile[i] = x[i];
  if (i < 4) tile[32 + i] = x[32 + i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef REPAIRED
  const float4 v = float4(tile[i], tile[i + 1], tile[i + 2], tile[i + 3]);
#else
  const float4 v = *(threadgroup float4*)(tile + i);  // @read
#endif
  out[i] = v.x + v.y + v.z + v.w;
}
