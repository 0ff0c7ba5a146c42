kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void nbody(global float4* accelerations, global const float4* bodies, uint count) {
  local float4 tile[256];
  const uint i = get_global_id(0), thread_index = get_local_id(0);
  const float3 position = bodies[i].xyz;
  float3 acceleration = (float3)(0);
  for (uint start = 0; start < count; start += 256) {
    tile[thread_index] = bodies[start + thread_index];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 256; ++j) {
      const float4 body = tile[j];
      const float3 away = body.xyz - position;
      const float inverse = rsqrt(dot(away, away) + 0.01f);
      acceleration += away * (body.w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  accelerations[i] = (float4)(acceleration, 0);
}
