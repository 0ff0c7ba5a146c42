// Indices that are divided by numbers which are the same in all threads: rows of threads that go over a multiple, and
// rows that do not. A loop that subtracts says what is right.
#include <metal_stdlib>
using namespace metal;

bool is_wrong(uint i, uint n, float remainder, float quotient) {
  uint r = i, q = 0;
  for (; r >= n; r -= n) ++q;
  return remainder != float(r) || quotient != float(q);
}

// RUN: --kernel tables --threads 1024 --group 256 --arg wrong=u32[1024]=ones --arg table=f32[2048]=arange --arg n=100 --arg count=1024
// EXPECT wrong: 0 x 1024
// ENGINE: simd
// RUN: --kernel tables --threads 1024 --group 256 --arg wrong=u32[1024]=ones --arg table=f32[2048]=arange --arg n=7 --arg count=1001
// EXPECT wrong: 0 x 1001 1 x 23
// RUN: --kernel tables --threads 1000 --group 96 --arg wrong=u32[1024]=ones --arg table=f32[2048]=arange --arg n=32 --arg count=1024
// EXPECT wrong: 0 x 1000 1 x 24
// RUN: --kernel tables --threads 1024 --group 64 --arg wrong=u32[1024]=ones --arg table=f32[2048]=arange --arg n=1000 --arg count=1024
// EXPECT wrong: 0 x 1024
// RUN: --kernel tables --threads 1024 --group 64 --arg wrong=u32[1024]=ones --arg table=f32[2048]=arange --arg n=1 --arg count=1024
// EXPECT wrong: 0 x 1024
kernel void tables(device uint* wrong, device const float* table, constant uint& n, constant uint& count,
                   uint i [[thread_position_in_grid]]) {
  if (i >= count) return;
  bool is_bad = is_wrong(i, n, table[i % n], table[i / n]);
  if (i % n > 40) is_bad |= table[i % n + 1] != table[i % n] + 1;
  wrong[i] = is_bad;
}

// Masks, shifts, constants, and an index that begins below zero.
// RUN: --kernel constants --threads 1024 --group 256 --arg wrong=u32[1024]=ones --arg table=f32[2048]=arange
// EXPECT wrong: 0 x 1024
// ENGINE: simd
kernel void constants(device uint* wrong, device const float* table, uint i [[thread_position_in_grid]]) {
  bool is_bad = is_wrong(i, 64, table[i & 63], table[i >> 6]);
  is_bad |= is_wrong(i, 77, table[i % 77], table[i / 77]);
  const uint before = i - 5, quotient = before / 100000;
  is_bad |= quotient != (i < 5 ? 42949 : 0) || before - quotient * 100000 != before % 100000;
  wrong[i] = is_bad;
}

// Lane 0 has no such index: it is below zero.
// RUN: --kernel guarded --threads 1024 --group 256 --arg wrong=u32[1024]=zeros --arg table=f32[2048]=arange --arg n=100
// EXPECT wrong: 0 x 1024
// ENGINE: simd
kernel void guarded(device uint* wrong, device const float* table, constant uint& n,
                    uint i [[thread_position_in_grid]]) {
  if (i < 5) return;
  wrong[i] = is_wrong(i - 5, n, table[(i - 5) % n], table[(i - 5) / n]);
}

// What follows has barriers.
// RUN: --kernel shared --threads 256 --group 128 --arg wrong=u32[256]=ones --arg table=f32[256]=arange --arg n=48
// EXPECT wrong: 0 x 256
// ENGINE: simd
kernel void shared(device uint* wrong, device const float* table, constant uint& n,
                   uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float values[128];
  values[t] = table[i % n];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint other = i ^ 127;
  wrong[i] = is_wrong(other, n, values[t ^ 127], table[other / n]);
}

// Several ways out of one switch lead to what follows.
// RUN: --kernel left_early --threads 64 --group 64 --arg out=u32[64]=zeros --arg n=5
// EXPECT out: 200 201 .. 203 104 105 .. 107 100 x 56
// ENGINE: simd
kernel void left_early(device uint* out, constant int& n, uint q [[thread_position_in_threadgroup]]) {
  bool last = false;
  int turn = 0;
  while (turn++ < 7) {
    if (uint(turn) >= q) {
      out[q] += q;
      break;
    }
    last = ((n + int(q)) & 2147483647) > 0;
  }
  last = quad_all(last);
  out[q] += last ? 100 : 200;
}
