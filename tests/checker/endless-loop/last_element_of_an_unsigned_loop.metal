// A loop that counts an unsigned number down to zero, and asks whether it is at least zero.
// CHECK: --timeout 1 --threads 4 --group 4 --arg x=u32[4,8]=ones --arg out=u32[4]=zeros
// FINDS: endless-loop
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const uint* x, device uint* out, uint row [[thread_position_in_grid]]) {
#ifdef REPAIRED
  for (int k = 7; k >= 0; --k) {
#else
  for (uint k = 7; k >= 0; --k) {
#endif
    out[row] += x[row * 8 + k % 8];
  }
}
