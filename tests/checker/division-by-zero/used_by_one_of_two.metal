// A guard in the wrong direction: the quotient is used where the divisor is zero.
// CHECK: --threads 4 --group 4 --arg x=i32[4]=0,1,2,0 --arg out=i32[4]=zeros
// FINDS: division-by-zero divide
#include <metal_stdlib>
using namespace metal;

kernel void quotients(device const int* x, device int* out, uint i [[thread_position_in_grid]]) {
  const int q = 100 / x[i];  // @divide
#ifdef REPAIRED
  out[i] = x[i] ? q : 0;
#else
  out[i] = x[i] ? 0 : q;
#endif
}
