// Addresses of four rows at a time lie in an array of the thread: the last threadgroup has rows that are not there.
// CHECK: --threadgroups 2 --group 32 --arg weights=f32[6,64]=arange --arg x=f32[64]=ones --arg out=f32[6]=zeros --arg rows=6
// FINDS: out-of-bounds read
#include <metal_stdlib>
using namespace metal;

constant uint rows_each = 4, columns = 64;

kernel void product(device const float* weights, device const float* x, device float* out, constant uint& rows,
                    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const uint first = group * rows_each;
  device const float* row[rows_each];
  for (uint r = 0; r < rows_each; ++r) {
#ifdef REPAIRED
    row[r] = weights + min(first + r, rows - 1) * columns;
#else
    row[r] = weights + (first + r) * columns;
#endif
  }
  float sums[rows_each] = {0};
  for (uint k = lane; k < columns; k += 32) {
    for (uint r = 0; r < rows_each; ++r) {
      sums[r] += row[r][k] * x[k];  // @read
    }
  }
  for (uint r = 0; r < rows_each; ++r) {
    const float sum = simd_sum(sums[r]);
    if (lane == 0 && first + r < rows) out[first + r] = sum;
  }
}
