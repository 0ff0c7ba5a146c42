// A helper counts by way of a pointer to a variable that was never set to zero.
// CHECK: --threads 4 --group 4 --arg x=u32[4]=arange --arg out=u32[4]=zeros
// FINDS: uninitialised add
#include <metal_stdlib>
using namespace metal;

static void add(thread uint* sum, uint value) {
  *sum += value;  // @add
}

kernel void sums(device const uint* x, device uint* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  uint sum = 0;
#else
  uint sum;
#endif
  for (uint k = 0; k <= i; ++k) add(&sum, x[k]);
  out[i] = sum;
}
