// What one lane writes, the others of its simdgroup read without a barrier in between. Metal does not promise it; ggml's
// triangular solver counts on it.
#include <metal_stdlib>
using namespace metal;

constant short rows [[function_constant(0)]];

// Each row's sum of those before it, and one: 1, 2, 4, 8, ... One simdgroup has nothing to do but wait.
// RUN: --kernel rows_before --constant rows=6 --threadgroups 1 --group 32,2 --arg a=f32[256]=ones --arg x=f32[64]=zeros --arg columns=i32[1]=1 --threadgroup-memory 0=512
// EXPECT x: 1 0 2 0 4 0 8 0 16 0 32 0 x 53
// RUN: --kernel rows_before --constant rows=9 --threadgroups 1 --group 32,2 --arg a=f32[256]=ones --arg x=f32[64]=zeros --arg columns=i32[1]=2 --threadgroup-memory 0=512
// EXPECT x: 1 1 2 2 4 4 8 8 16 16 32 32 64 64 128 128 256 256 0 x 46
kernel void rows_before(device const float* a, device float* x, constant int& columns, threadgroup float* row [[threadgroup(0)]],
                        ushort simdgroup [[simdgroup_index_in_threadgroup]], ushort lane [[thread_index_in_simdgroup]]) {
  device const float* at = a + simdgroup * rows;
  device float* own = x + simdgroup;
  for (short first = 0; first < rows; first += 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    row[simdgroup * 32 + lane] = at[lane];
    at += 2 * rows;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup >= columns) continue;
    for (short i = 0; i < 2 && first + i < rows; ++i) {
      const short r = first + i;
      float sum = 0.0f;
      for (short t = 0; t * 32 < r; ++t) {
        const short before = t * 32 + lane;
        sum += row[i * 32 + before] * own[before * 2] * (before < r);
      }
      sum = simd_sum(sum);
      if (lane == 0) own[r * 2] = 1.0f + sum;
    }
  }
}
