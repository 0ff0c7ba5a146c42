// A loop that counts an unsigned number down to zero, and asks whether it is at least zero. It has one line, since it
// may be stopped at any of them.
// CHECK: --timeout 1 --threads 4 --group 4 --arg x=u32[4,8]=ones --arg out=u32[4]=zeros
// FINDS: endless-loop
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const uint* x, device uint* out, uint row [[thread_position_in_grid]]) {
#ifdef REPAIRED
  for (int k = 7; k >= 0; --k) out[row] += x[row * 8 + k % 8];
#else
  for (uint k = 7; k >= 0; --k) out[row] += x[row * 8 + k % 8];
#endif
}
