// Products of tiles that threads bring to threadgroup memory byte by byte, each byte under a condition of its own, as
// compilers of other languages write them: nothing is a loop.
#include <metal_stdlib>
using namespace metal;

// A product of 8 x 512 and 512 x 16 for a threadgroup of two simdgroups, sizes at will.
// RUN: --kernel product --threads 64 --group 64 --arg a=u8[4096]=arange --arg b=u8[8192]=arange --arg wrong=u32[128]=ones --arg rows=8 --arg depth=512 --arg columns=16
// EXPECT wrong: 0 x 128
// ENGINE: simd
// RUN: --kernel product --threads 64 --group 64 --arg a=u8[4096]=arange --arg b=u8[8192]=arange --arg wrong=u32[128]=ones --arg rows=7 --arg depth=500 --arg columns=13
// EXPECT wrong: 0 x 128
// RUN: --kernel product --threads 64 --group 64 --arg a=u8[4096]=arange --arg b=u8[8192]=arange --arg wrong=u32[128]=ones --arg rows=1 --arg depth=9 --arg columns=2
// EXPECT wrong: 0 x 128
// RUN: --kernel product --threads 64 --group 64 --arg a=u8[4096]=arange --arg b=u8[8192]=arange --arg wrong=u32[128]=ones --arg rows=5 --arg depth=800 --arg columns=10
// EXPECT wrong: 0 x 128
kernel void product(device const uchar* a, device const uchar* b, device uint* wrong, constant int& rows,
                    constant int& depth, constant int& columns, uint index [[thread_index_in_threadgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup half left[8 * 520];
  threadgroup half right[512 * 16];
  const int bytes = 16;
  const int first_k = int(index % 32) * bytes;
  const int first_row = int(index / 32);
  const int first_column = int(index % 2) * 8;
  const int first_depth = int(index / 2);
  uint sums[2] = {0, 0};
  for (int k = 0; k < depth; k += 512) {
    uchar own_left[64], own_right[128];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
      for (int i = 0; i < bytes; ++i) {
        const int row = first_row + 2 * r, place = k + first_k + i;
        own_left[r * bytes + i] = row >= 0 && row < rows && place >= 0 && place < depth ? a[row * depth + place] : uchar(0);
      }
    }
#pragma unroll
    for (int r = 0; r < 16; ++r) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int row = k + first_depth + 32 * r, column = first_column + i;
        own_right[r * 8 + i] =
            row >= 0 && row < depth && column >= 0 && column < columns ? b[row * columns + column] : uchar(0);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
      for (int i = 0; i < bytes; ++i) left[(first_row + 2 * r) * 520 + first_k + i] = half(own_left[r * bytes + i]);
    }
#pragma unroll
    for (int r = 0; r < 16; ++r) {
#pragma unroll
      for (int i = 0; i < 8; ++i) right[(first_depth + 32 * r) * 16 + first_column + i] = half(own_right[r * 8 + i]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (int part = 0; part < 512; part += 256) {
      simdgroup_matrix<float, 8, 8> sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll
      for (int step = part; step < part + 256; step += 8) {
        simdgroup_matrix<half, 8, 8> x, y;
        simdgroup_load(x, left + step, 520);
        simdgroup_load(y, right + step * 16 + simdgroup * 8, 16);
        simdgroup_multiply_accumulate(sum, x, y, sum);
      }
      sums[0] += uint(sum.thread_elements()[0]);
      sums[1] += uint(sum.thread_elements()[1]);
    }
  }
  // Where a lane's elements lie is found by a matrix of places.
  threadgroup float places[64];
  places[index] = float(index);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_matrix<float, 8, 8> at;
  simdgroup_load(at, places, 8);
  for (int e = 0; e < 2; ++e) {
    const int place = int(at.thread_elements()[e]);
    const int row = place / 8, column = int(simdgroup) * 8 + place % 8;
    uint expected = 0;
    if (row < rows && column < columns) {
      for (int k = 0; k < depth; ++k) expected += uint(a[row * depth + k]) * b[k * columns + column];
    }
    wrong[row * 16 + column] = sums[e] != expected;
  }
}
