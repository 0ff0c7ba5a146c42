// Accelerations of all bodies (x, y, z, mass) by all, a threadgroup's worth at a time.
#include <metal_stdlib>
using namespace metal;

kernel void nbody(device float4* accelerations, device const float4* bodies, constant uint& count,
                  uint i [[thread_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup float4 tile[256];
  const float3 position = bodies[i].xyz;
  float3 acceleration = float3(0);
  for (uint start = 0; start < count; start += 256) {
    tile[thread_index] = bodies[start + thread_index];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 256; ++j) {
      const float4 body = tile[j];
      const float3 away = body.xyz - position;
      const float inverse = rsqrt(dot(away, away) + 0.01f);
      acceleration += away * (body.w * inverse * inverse * inverse);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  accelerations[i] = float4(acceleration, 0);
}
