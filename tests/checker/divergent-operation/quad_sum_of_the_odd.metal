// A sum over the quad that two of its threads ask for.
// CHECK: --threads 16 --group 16 --arg x=f16[16]=arange --arg out=f16[16]=zeros
// FINDS: divergent-operation sum
#include <metal_stdlib>
using namespace metal;

kernel void odd_sums(device const half* x, device half* out, uint i [[thread_position_in_grid]]) {
  half sum = 0;
#ifdef REPAIRED
  sum = quad_sum(i % 2 == 1 ? x[i] : 0.0h);
#else
  if (i % 2 == 1) sum = quad_sum(x[i]);  // @sum
#endif
  out[i] = sum;
}
