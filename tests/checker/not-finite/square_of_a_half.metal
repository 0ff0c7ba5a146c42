// The square of 300 is more than the largest half.
// CHECK: --also not-finite --threads 4 --group 4 --arg x=f16[4]=1,100,300,2 --arg out=f32[4]=zeros
// FINDS: not-finite square
#include <metal_stdlib>
using namespace metal;

kernel void squares(device const half* x, device float* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  out[i] = float(x[i]) * float(x[i]);
#else
  const half square = x[i] * x[i];  // @square
  out[i] = float(square);
#endif
}
