// A variable that only one branch sets.
// CHECK: --threads 8 --group 8 --arg x=f32[8]=-2,-1,0,1,2,3,4,5 --arg out=f32[8]=zeros
// FINDS: uninitialised keep
#include <metal_stdlib>
using namespace metal;

kernel void relu(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  float kept = 0;
#else
  float kept;
#endif
  if (x[i] > 0) kept = x[i];
  out[i] = kept;  // @keep
}
