// Arrays of numbers are used as vectors where their elements lie as those do.
// CHECK: --threads 32 --group 32 --arg x=f32[128]=arange --arg out=f32[32]=zeros
#include <metal_stdlib>
using namespace metal;

struct Tile {
  half head;
  float values[8];
};

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float tile[128];
  threadgroup half small[3];
  for (uint k = 0; k < 4; ++k) tile[4 * i + k] = x[4 * i + k];
  if (i < 3) small[i] = i;
  float own[8];
  for (uint k = 0; k < 8; ++k) own[k] = k;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float4 v = *(threadgroup float4*)(tile + 4 * i);
  const float4 w = *(thread float4*)(own + 4 * (i % 2));
  const float2 u = *(thread float2*)&own[2];
  Tile t;
  t.head = 1;
  t.values[1] = v.x;
  out[i] = v.x + v.y + w.x + u.y + float(small[2]) + t.values[1] + float(t.head);
}
