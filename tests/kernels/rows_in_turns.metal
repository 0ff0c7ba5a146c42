// Threads of a threadgroup that go along rows together, each with every n-th element: which thread has which element
// cannot be told, unless rows or threads say so.
#include <metal_stdlib>
using namespace metal;

// Whole rows of 8 elements a thread, rows with some left, rows that begin at odd elements, and short ones.
// RUN: --kernel copy --threadgroups 2 --group 32 --arg out=u16[1024]=zeros --arg x=u16[1024]=arange --arg columns=512
// EXPECT out: 1 2 .. 1024
// RUN: --kernel copy --threadgroups 3 --group 32 --arg out=u16[903]=zeros --arg x=u16[903]=arange --arg columns=301
// EXPECT out: 1 2 .. 903
// RUN: --kernel copy --threadgroups 3 --group 32 --arg out=u16[39]=zeros --arg x=u16[39]=arange --arg columns=13
// EXPECT out: 1 2 .. 39
// RUN: --kernel copy --threadgroups 2 --group 96 --arg out=u16[1600]=zeros --arg x=u16[1600]=arange --arg columns=800
// EXPECT out: 1 2 .. 1600
kernel void copy(device ushort* out, device const ushort* x, constant uint& columns,
                 uint row [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                 uint threads [[threads_per_threadgroup]]) {
  for (uint column = thread_index; column < columns; column += threads) {
    out[size_t(row) * columns + column] = x[size_t(row) * columns + column] + 1;
  }
}

// An access outside is the thread's whose turn it is.
// RUN: --kernel copy --threadgroups 1 --group 32 --arg out=u16[400]=zeros --arg x=u16[512]=arange --arg columns=512
// ERROR out_of_bounds: argument 'out'

// Indices of 32 bits, counted with a sign; elements of several sizes.
// RUN: --kernel widen --threadgroups 2 --group 32 --arg out=f32[600]=zeros --arg x=f16[600]=arange --arg y=u8[300]=ones
// RUN+: --arg columns=i32:300
// EXPECT out: 1 2 .. 600
// RUN: --kernel widen --threadgroups 1 --group 32 --arg out=f32[4]=zeros --arg x=f16[4]=arange --arg y=u8[4]=ones
// RUN+: --arg columns=i32:-5
// EXPECT out: 0 x 4
kernel void widen(device float* out, device const half* x, device const uchar* y, constant int& columns,
                  uint row [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
  for (int column = int(thread_index); column < columns; column += int(threads)) {
    const uint at = row * uint(columns) + uint(column);
    out[at] = float(x[at]) + float(y[column]);
  }
}

// With the column in the result, a number that threads have in common, and bfloat.
// RUN: --kernel scaled --threadgroups 1 --group 64 --arg out=bf16[600]=zeros --arg x=bf16[600]=ones
// EXPECT out: 64 x 128 65 x 128 66 x 128 67 x 128 68 x 88
kernel void scaled(device bfloat* out, device const bfloat* x, uint thread_index [[thread_index_in_threadgroup]],
                   uint threads [[threads_per_threadgroup]]) {
  threadgroup float scale;
  if (thread_index == threads - 1) scale = float(thread_index + 1);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint column = thread_index; column < 600; column += threads) {
    out[column] = bfloat(float(x[column]) * scale + float(column / 128));
  }
}

// In place, with a sum in front of it that reads what is written.
// RUN: --kernel in_place --threadgroups 1 --group 32 --arg x=u16[520]=ones
// EXPECT x: 521 x 520
kernel void in_place(device ushort* x, uint thread_index [[thread_index_in_threadgroup]],
                     uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup uint sums[32];
  uint sum = 0;
  for (uint column = thread_index; column < 520; column += threads) sum += x[column];
  sum = simd_sum(sum);
  if (lane == 0) sums[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0;
  for (uint i = 0; i < simdgroups; ++i) sum += sums[i];
  for (uint column = thread_index; column < 520; column += threads) x[column] += ushort(sum);
}

// What a thread wrote it reads again without a barrier: its own elements.
// RUN: --kernel own --threadgroups 1 --group 32 --arg out=u16[512]=zeros --arg between=u16[512]=zeros
// RUN+: --arg x=u16[512]=arange
// EXPECT out: 3 5 .. 1025
kernel void own(device ushort* out, device ushort* between, device const ushort* x,
                uint thread_index [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]]) {
  for (uint column = thread_index; column < 512; column += threads) between[column] = x[column] * 2;
  for (uint column = thread_index; column < 512; column += threads) {
    out[column] = between[column] + 3;
    between[column] = 0;
  }
}

// Down the columns of a matrix that is as wide as the threadgroup: a turn reads what the turn before wrote.
// RUN: --kernel down --threadgroups 1 --group 32 --arg x=u16[544]=ones
// EXPECT x: 1 x 32 2 x 32 3 x 32 4 x 32 5 x 32 6 x 32 7 x 32 8 x 32 9 x 32 10 x 32 11 x 32 12 x 32 13 x 32 14 x 32
// EXPECT+: 15 x 32 16 x 32 17 x 32
kernel void down(device ushort* x, uint thread_index [[thread_index_in_threadgroup]],
                 uint threads [[threads_per_threadgroup]]) {
  for (uint at = thread_index; at < 512; at += threads) x[at + threads] += x[at];
}

// Numbers and ends that are the thread's own.
// RUN: --kernel by_thread --threadgroups 1 --group 32 --arg out=u16[512]=zeros --arg some=u16[512]=zeros
// EXPECT out: (0 1 .. 31) x 16
// EXPECT some: (1 0) x 128 (0 0) x 128
kernel void by_thread(device ushort* out, device ushort* some, uint thread_index [[thread_index_in_threadgroup]],
                      uint threads [[threads_per_threadgroup]]) {
  for (uint column = thread_index; column < 512; column += threads) out[column] = ushort(thread_index);
  const uint end = thread_index % 2 == 0 ? 256 : 0;
  for (uint column = thread_index; column < end; column += threads) some[column] = 1;
}

// Not all threads come to it.
// RUN: --kernel half_of_them --threadgroups 1 --group 64 --arg out=u16[1024]=zeros
// EXPECT out: (1 x 32 0 x 32) x 16
kernel void half_of_them(device ushort* out, uint thread_index [[thread_index_in_threadgroup]],
                         uint threads [[threads_per_threadgroup]]) {
  if (thread_index >= 32) return;
  for (uint column = thread_index; column < 1024; column += threads) out[column] = 1;
}
