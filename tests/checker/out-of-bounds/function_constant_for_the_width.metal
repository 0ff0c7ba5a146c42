// The width is a function constant, which the host set for another model.
// CHECK: --kernel scale_rows --threads 4 --group 4 --constant width=24 --arg x=f16[4,16]=ones --arg out=f32[4]=zeros
// CHECK REPAIRED: --kernel scale_rows --threads 4 --group 4 --constant width=16 --arg x=f16[4,16]=ones --arg out=f32[4]=zeros
// FINDS: out-of-bounds read
#include <metal_stdlib>
using namespace metal;

constant uint width [[function_constant(0)]];

kernel void scale_rows(device const half* x, device float* out, uint row [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < width; ++k) {
    sum += float(x[row * width + k]);  // @read
  }
  out[row] = sum;
}
