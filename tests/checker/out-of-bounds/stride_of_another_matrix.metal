// The row stride of the wider matrix is used for the narrower one, too, and the last rows lie where another buffer may
// be.
// CHECK: --threads 8,8 --group 8,8 --arg a=f32[8,100]=uniform --arg b=f32[8,8]=uniform --arg out=f32[8,8]=zeros --arg stride_a=100 --arg stride_b=8
// FINDS: out-of-bounds read
#include <metal_stdlib>
using namespace metal;

kernel void add(device const float* a, device const float* b, device float* out, constant uint& stride_a,
                constant uint& stride_b, uint2 p [[thread_position_in_grid]]) {
  const float left = a[p.y * stride_a + p.x];
#ifdef REPAIRED
  const float right = b[p.y * stride_b + p.x];
#else
  const float right = b[p.y * stride_a + p.x];  // @read
#endif
  out[p.y * 8 + p.x] = left + right;
}
