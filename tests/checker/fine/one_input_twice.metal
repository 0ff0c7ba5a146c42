// One array is bound to two arguments that are only read.
// CHECK: --threads 16 --group 16 --arg a=f32[20]=arange --arg b=@a+16 --arg out=f32[16]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void products(device const float* a, device const float* b, device float* out,
                     uint i [[thread_position_in_grid]]) {
  out[i] = a[i] * b[i];
}
