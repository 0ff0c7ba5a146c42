// Threadgroup memory and barriers.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel reverse --threads 10 --group 5 --arg x=i32[10]=arange
// EXPECT x: 4 3 2 1 0 9 8 7 6 5
kernel void reverse(device int* x, uint p [[thread_position_in_grid]], uint i [[thread_index_in_threadgroup]],
                    uint n [[threads_per_threadgroup]]) {
  threadgroup int t[32];
  t[i] = x[p];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[p] = t[n - 1 - i];
}

// A barrier in a loop whose length depends on data.
// RUN: --kernel steps --threads 4 --group 4 --arg x=i32[4]=1,2,3,4 --arg rounds=u32:3
// EXPECT x: 4 1 2 3
kernel void steps(device int* x, constant uint& rounds, uint i [[thread_index_in_threadgroup]]) {
  threadgroup int t[2][4];
  t[0][i] = x[i];
  for (uint round = 0; round < rounds; ++round) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    t[(round + 1) % 2][i] = t[round % 2][(i + 1) % 4];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t[rounds % 2][i];
}

// Threads that return early do not hold up the others.
// RUN: --kernel early --threads 40 --group 40 --arg x=i32[1]=0
// EXPECT x: 30
kernel void early(device atomic_int* x, uint i [[thread_index_in_threadgroup]]) {
  if (i >= 30) return;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(x, 1, memory_order_relaxed);
}

// Nested scopes and dynamic memory.
// RUN: --kernel mixed --threads 4 --group 4 --threadgroup-memory 0=16 --threadgroup-memory 1=32 --arg x=i32[4]=5,6,7,8
// EXPECT x: 18 17 16 15
kernel void mixed(device int* x, threadgroup int* a [[threadgroup(0)]], threadgroup long* b [[threadgroup(1)]],
                  uint i [[thread_index_in_threadgroup]]) {
  a[i] = x[i];
  b[i] = 10;
  {
    threadgroup int inner[4];
    inner[3 - i] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = a[3 - i] + int(b[3 - i]) + inner[i];
  }
}

// Without the length of its dynamic memory a kernel is not launched.
// RUN: --kernel mixed --threads 4 --group 4 --threadgroup-memory 0=16 --arg x=i32[4]=5,6,7,8
// ERROR invalid_argument: mixed

// RUN: --kernel reverse --threads 10 --group 2000 --arg x=i32[10]=arange
// ERROR limit_exceeded: 1024

// Dynamic threadgroup memory does not lie over static: i + 10 i + 100 i + i of the thread on the other side.
// RUN: --kernel static_and_dynamic --threads 16 --group 16 --threadgroup-memory 0=64 --threadgroup-memory 1=512
// RUN+: --arg out=u32[16]=zeros
// EXPECT out: 1680 1568 .. 0
struct Pair {
  uchar a;
  float4 b;
};
kernel void static_and_dynamic(device uint* out, threadgroup uint* first [[threadgroup(0)]],
                               threadgroup Pair* second [[threadgroup(1)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint own[16];
  own[i] = i;
  first[i] = i * 10;
  second[i].b = float4(i * 100);
  second[i].a = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint j = 15 - i;
  out[i] = own[j] + first[j] + uint(second[j].b.w) + second[j].a;
}

// Addresses of threadgroup memory in constants: arrays of rows, structs with rows, and copies of them.
// RUN: --kernel rows_of_two --threads 8 --group 4 --arg out=u32[8]=zeros
// EXPECT out: 3 102 1 100 7 106 5 104
kernel void rows_of_two(device uint* out, uint p [[thread_position_in_grid]],
                        uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint first[4], second[5];
  threadgroup uint* rows[2] = {first, second + 1};
  rows[0][i] = p;
  rows[1][i] = 100 + p;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[p] = rows[i % 2][3 - i];
}

// 10 i + 5 + 1000 of the even threads, 100 i + 6 + 1000 of the odd ones.
// RUN: --kernel rows_in_structs --threads 6 --group 6 --arg out=u32[6]=zeros
// EXPECT out: 1005 1106 1025 1306 1045 1506
struct Row {
  threadgroup uint* begin;
  uint more;
};
struct Rows {
  uint base;
  Row row[2];
};
kernel void rows_in_structs(device uint* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint tens[6], hundreds[6];
  const Rows rows = {1000, {{tens, 5}, {hundreds, 6}}};
  rows.row[0].begin[i] = 10 * i;
  rows.row[1].begin[i] = 100 * i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Rows copy = rows;
  const Row row = copy.row[i % 2];
  out[i] = row.begin[i] + row.more + copy.base;
}

// The constant lies in a loop, and in constant memory.
// RUN: --kernel rows_in_turn --threads 4 --group 4 --arg out=u32[4]=zeros
// EXPECT out: 406 414 422 430
kernel void rows_in_turn(device uint* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint first[4], second[4];
  first[i] = i;
  second[i] = 100 + i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup uint* const constant both[2] = {first, second};
  uint sum = 0;
  for (uint k = 0; k < 4; ++k) {
    threadgroup uint* const rows[2][2] = {{first, second}, {second, first}};
    threadgroup uint* const* pair = rows[(k + i) % 2];
    sum += pair[k / 2][i] + both[k % 2][i] + k;
  }
  out[i] = sum;
}

// A barrier in front of everything else.
// RUN: --kernel barrier_first --threads 4,1 --group 4,1 --arg out=u32[4]=zeros --arg in=u32[6]=arange
// EXPECT out: 10 10 10 10
kernel void barrier_first(device uint* out, constant uint* in, uint2 place [[thread_position_in_grid]]) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint sum = 0;
  for (int k = 0; k < 5; ++k) sum += in[k + place.y];
  out[place.x] = sum;
}
