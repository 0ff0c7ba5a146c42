// A tail of three elements is read as packed_float3, which needs the alignment of one float and the size of three.
// CHECK: --threads 5 --group 5 --arg x=f32[15]=arange --arg out=f32[5]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void lengths(device const packed_float3* x, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = length(float3(x[i]));
}
