// Simdgroups that read the same vector run two at a time (src/engines/simd/lane/pair_simdgroups.h), unless one of the two
// has less to do. All numbers are small and whole, so that sums are exact in any order.
#include <metal_stdlib>
using namespace metal;

// Rows of ones times a vector of 0, 1, 2, ...: 64 * 63 / 2, each row by its number.
float weight(device const float4* rows, uint row, uint columns, uint k, float4 x) {
  return dot(rows[row * (columns / 4) + k], x);
}

// RUN: --kernel matvec --threadgroups 4 --group 64 --arg y=f32[32]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=32
// EXPECT y: 2016 x 32
// ENGINE: simd
// The second simdgroup of the last pair has one row, then none.
// RUN: --kernel matvec --threadgroups 4 --group 64 --arg y=f32[32]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=29
// EXPECT y: 2016 x 29 0 x 3
// RUN: --kernel matvec --threadgroups 4 --group 64 --arg y=f32[32]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=28
// EXPECT y: 2016 x 28 0 x 4
// RUN: --kernel matvec --threadgroups 4 --group 64 --arg y=f32[32]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=24
// EXPECT y: 2016 x 24 0 x 8
// One simdgroup in a threadgroup, and odd numbers of them.
// RUN: --kernel matvec --threadgroups 8 --group 32 --arg y=f32[32]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=32
// EXPECT y: 2016 x 32
// RUN: --kernel matvec --threadgroups 2 --group 96 --arg y=f32[32]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=23
// EXPECT y: 2016 x 23 0 x 9
// RUN: --kernel matvec --threadgroups 2 --group 80 --arg y=f32[32]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=16
// EXPECT y: 2016 x 12 2016 x 4 0 x 16
// Rows of several simdgroups, and simdgroups in rows of their own.
// RUN: --kernel matvec --threadgroups 2 --group 64,2 --arg y=f32[32]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=31
// EXPECT y: 2016 x 31 0
// RUN: --kernel matvec --threadgroups 2 --group 32,4 --arg y=f32[32]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=31
// EXPECT y: 2016 x 31 0
// The third simdgroup reads too far.
// RUN: --kernel matvec --threadgroups 1 --group 128 --arg y=f32[32]=zeros --arg w=f32[576]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=12
// ERROR out_of_bounds: kernel 'matvec' reads outside of argument 'w' (buffer 1): element 144 of 144
// ERROR out_of_bounds: thread (64, 0, 0)
// The second one.
// RUN: --kernel matvec --threadgroups 1 --group 64 --arg y=f32[32]=zeros --arg w=f32[320]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=32
// ERROR out_of_bounds: kernel 'matvec' reads outside of argument 'w' (buffer 1): element 80 of 80
// ERROR out_of_bounds: thread (32, 0, 0)
// What it writes.
// RUN: --kernel matvec --threadgroups 1 --group 64 --arg y=f32[6]=zeros --arg w=f32[2048]=ones --arg x=f32[64]=arange --arg columns=64 --arg rows=32
// ERROR out_of_bounds: kernel 'matvec' writes outside of argument 'y' (buffer 0): element 6 of 6
// ERROR out_of_bounds: thread (32, 0, 0)
kernel void matvec(device float* y, device const float4* w, device const float4* x, constant uint& columns,
                   constant uint& rows, uint group [[threadgroup_position_in_grid]],
                   ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]],
                   ushort simdgroups [[simdgroups_per_threadgroup]]) {
  const uint first = (group * simdgroups + simdgroup) * 4;
  float sums[4] = {};
  for (uint k = lane; k < columns / 4; k += 32) {
    const float4 part = x[k];
    for (uint row = 0; row < 4 && first + row < rows; ++row) sums[row] += weight(w, first + row, columns, k, part);
  }
  for (uint row = 0; row < 4; ++row) {
    const float sum = simd_sum(sums[row]);
    if (lane == 0 && first + row < rows) y[first + row] = sum;
  }
}

// Simdgroups that have no row return early; what becomes of a sum is a choice of several.
// RUN: --kernel early --threadgroups 2 --group 128 --arg y=f32[8]=zeros --arg w=f32[512]=ones --arg x=f32[64]=zeros --arg rows=8
// EXPECT y: 0 64 128 192 0 64 128 192
// ENGINE: simd
// RUN: --kernel early --threadgroups 2 --group 128 --arg y=f32[8]=zeros --arg w=f32[512]=ones --arg x=f32[64]=zeros --arg rows=7
// EXPECT y: 0 56 112 168 0 56 112 0
// RUN: --kernel early --threadgroups 2 --group 128 --arg y=f32[8]=zeros --arg w=f32[512]=ones --arg x=f32[64]=zeros --arg rows=5
// EXPECT y: 0 40 80 120 0 0 0 0
kernel void early(device float* y, device const float2* w, device const float2* x, constant uint& rows,
                  uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint row = group * simdgroups + simdgroup;
  if (row >= rows) return;
  float sum = 0;
  for (uint k = lane; k < rows * 4; k += 32) sum += dot(exp2(x[k]), w[row * 32 + k % 32]);
  sum = simd_sum(sum);
  switch (row % 4) {
    case 0: sum = 0; break;
    case 1: break;
    case 2: sum *= 2; break;
    default: sum *= 3;
  }
  if (lane == 0) y[row] = sum;
}

// Loops within loops, whose inner one has as many turns as the simdgroup's number says.
// RUN: --kernel nested --threadgroups 1 --group 128 --arg y=f32[4]=zeros --arg w=f32[128]=ones --arg x=f32[128]=ones --arg turns=3
// EXPECT y: 0 384 768 1152
kernel void nested(device float* y, device const float4* w, device const float4* x, constant uint& turns,
                   uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  float sum = 0;
  for (uint turn = 0; turn < turns; ++turn) {
    const float4 part = x[lane];
    for (uint k = 0; k < simdgroup; ++k) sum += dot(part, w[lane]);
  }
  sum = simd_sum(sum);
  if (lane == 0) y[simdgroup] = sum;
}
