// A thread per row, and a loop that counts to the number of columns and one more. In the middle rows it reads the next
// row's first element, which nobody can see; the last row has no next one.
// CHECK: --threads 4 --group 4 --arg x=f32[4,10]=uniform --arg out=f32[4]=zeros --arg columns=10
// FINDS: out-of-bounds read
#include <metal_stdlib>
using namespace metal;

kernel void row_maximum(device const float* x, device float* out, constant uint& columns,
                        uint row [[thread_position_in_grid]]) {
  float largest = -INFINITY;
#ifdef REPAIRED
  for (uint k = 0; k < columns; ++k) {
#else
  for (uint k = 0; k <= columns; ++k) {
#endif
    largest = max(largest, x[row * columns + k]);  // @read
  }
  out[row] = largest;
}
