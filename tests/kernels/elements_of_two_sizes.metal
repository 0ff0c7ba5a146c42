// One pointer as one to elements of two sizes, with the same index: two addresses.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel both --threads 4 --group 4 --arg out=f32[4]=zeros --arg in=f32[32]=arange --arg from=u32[1]=1
// EXPECT out: 2 4 6 8
kernel void both(device float* out, device const float* in, constant uint& from,
                 uint t [[thread_position_in_grid]]) {
  const uint i = t + from;
  out[t] = ((device const packed_float3*)in)[i].x - in[i];
}

// RUN: --kernel written --threads 2 --group 2 --arg out=f32[16]=zeros --arg from=u32[1]=1
// EXPECT out: 0 1 2 0 1 0 0 0 2 0 0 0 0 0 0 0
kernel void written(device float* out, constant uint& from, uint t [[thread_position_in_grid]]) {
  const uint i = t + from;
  out[i] = float(i);
  ((device float4*)out)[i].x = float(i);
}
