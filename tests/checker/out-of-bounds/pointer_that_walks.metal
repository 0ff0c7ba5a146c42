// A pointer walks along a column and is read once more after the last step.
// CHECK: --threads 8 --group 8 --arg x=i16[6,8]=arange --arg out=i16[8]=zeros
// FINDS: out-of-bounds behind
#include <metal_stdlib>
using namespace metal;

kernel void column_maximum(device const short* x, device short* out, uint column [[thread_position_in_grid]]) {
  device const short* at = x + column;
  short largest = *at;
#ifdef REPAIRED
  for (uint row = 1; row < 6; ++row) {
#else
  for (uint row = 0; row < 6; ++row) {
#endif
    at += 8;
    largest = max(largest, *at);  // @behind
  }
  out[column] = largest;
}
