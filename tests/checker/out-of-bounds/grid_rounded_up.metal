// The grid is rounded up to whole threadgroups, and the threads behind the last element are not stopped.
// CHECK: --threadgroups 2 --group 64 --arg x=f32[128]=arange --arg out=f32[100]=zeros --arg n=100
// FINDS: out-of-bounds write
#include <metal_stdlib>
using namespace metal;

kernel void doubled(device const float* x, device float* out, constant uint& n, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  if (i >= n) return;
#endif
  out[i] = x[i] * 2;  // @write
}
