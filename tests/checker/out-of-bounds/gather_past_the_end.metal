// An index array that counts from 1.
// CHECK: --threads 4 --group 4 --arg x=f16[8]=arange --arg places=i32[4]=2,8,1,5 --arg out=f16[4]=zeros
// FINDS: out-of-bounds gather
#include <metal_stdlib>
using namespace metal;

kernel void gather(device const half* x, device const int* places, device half* out,
                   uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  out[i] = x[places[i] - 1];
#else
  out[i] = x[places[i]];  // @gather
#endif
}
