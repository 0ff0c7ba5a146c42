// Barriers: all threads of a threadgroup, or lanes of a simdgroup, that have not ended wait for each other, and see what
// the others wrote.
#include <metal_stdlib>
using namespace metal;

// Sums of all before by doubling steps: 0 + 1 + ... + i.
// RUN: --kernel scan --threads 5000 --group 1000 --arg right=u32[5000]=zeros
// EXPECT right: 1 x 5000
// RUN: --kernel scan --threads 1024 --group 1024 --arg right=u32[1024]=zeros
// EXPECT right: 1 x 1024
// RUN: --kernel scan --threads 333 --group 100 --arg right=u32[333]=zeros
// EXPECT right: 1 x 333
kernel void scan(device uint* right, uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]],
                 uint g [[thread_position_in_grid]]) {
  threadgroup uint values[1024];
  values[i] = i;
  for (uint step = 1; step < n; step *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint other = i >= step ? values[i - step] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    values[i] += other;
  }
  right[g] = values[i] == i * (i + 1) / 2;
}

// Part of a simdgroup, a whole simdgroup and a half have ended before the second barrier.
// RUN: --kernel ended_threads --threads 128 --group 128 --arg out=u32[128]=zeros
// EXPECT out: 50 x 50 0 x 78
kernel void ended_threads(device uint* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint count;
  if (i == 0) atomic_store_explicit(&count, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i >= 50) return;
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = atomic_load_explicit(&count, memory_order_relaxed);
}

// In each turn one simdgroup ends, the first one first, and the others meet without it: 5, 4, ... simdgroups of 32.
// RUN: --kernel one_simdgroup_less --threads 160 --group 160 --arg out=u32[160]=zeros
// EXPECT out: 160 x 32 128 x 32 96 x 32 64 x 32 32 x 32
kernel void one_simdgroup_less(device uint* out, uint i [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint counts[5];
  if (i < 5) atomic_store_explicit(&counts[i], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 5; ++k) {
    atomic_fetch_add_explicit(&counts[k], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = atomic_load_explicit(&counts[k], memory_order_relaxed);
    if (i / 32 == k) return;
  }
}

// RUN: --kernel lanes --threads 64 --group 64 --arg out=u32[64]=zeros
// EXPECT out: 31 30 .. 0 63 62 .. 32
kernel void lanes(device uint* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint values[64];
  values[i] = i;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = values[i ^ 31];
}

// A loop that ends when memory says so: the same for all threads.
// RUN: --kernel until_told --threads 200 --group 100 --arg out=u32[200]=zeros
// EXPECT out: 7 x 200
kernel void until_told(device uint* out, uint i [[thread_index_in_threadgroup]], uint g [[thread_position_in_grid]]) {
  threadgroup uint left;
  if (i == 0) left = 100;
  uint turns = 0;
  while (true) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint now = left;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (now == 0) break;
    if (i == turns) left = now / 2;  // another thread each turn: 100 50 25 12 6 3 1 0
    ++turns;
  }
  out[g] = turns;
}

// Barriers between operations that only part of the lanes take part in.
// RUN: --kernel with_operations --threads 96 --group 96 --arg out=u32[96,2]=zeros --arg turns=u32:3
// EXPECT out: (1392 624) x 32 (1659 112) x 32 (1797 368) x 32
kernel void with_operations(device uint2* out, constant uint& turns, uint i [[thread_index_in_threadgroup]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint sums[3];
  uint total = 0, last = 0;
  for (uint k = 0; k < turns; ++k) {
    if (i % (k + 2) == 0) {
      uint sum = simd_sum(i);
      if (simd_is_first()) sums[simdgroup] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    last = sums[(simdgroup + k) % 3];
    total += last;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = uint2(total, last);
}

// A branch that all threads of a threadgroup take alike, and its barriers.
// RUN: --kernel by_threadgroup --threads 160 --group 40 --arg out=u32[160]=zeros
// EXPECT out: 39 38 .. 0 (1 2 .. 39 0) 39 38 .. 0 (1 2 .. 39 0)
kernel void by_threadgroup(device uint* out, uint i [[thread_index_in_threadgroup]],
                           uint group [[threadgroup_position_in_grid]], uint g [[thread_position_in_grid]]) {
  threadgroup uint values[40];
  if (group % 2 == 0) {
    values[39 - i] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[g] = values[i];
  } else {
    values[i] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[g] = values[(i + 1) % 40];
  }
}

// Pointers to a thread's own variables, which other threads' turns leave alone: 4 + 400 + 2 * i + 1000.
// RUN: --kernel own_variables --threads 96 --group 96 --arg out=u32[96]=zeros
// EXPECT out: 1404 1406 .. 1594
kernel void own_variables(device uint* out, uint i [[thread_position_in_grid]]) {
  uint a[8], b[8];
  thread uint* p = i % 3 ? a : b;
  for (uint k = 0; k < 8; ++k) {
    a[k] = k + i;
    b[k] = 100 * k + i;
  }
  uint turn = simd_sum(1u) / 8;
  p[turn] += 1000;
  threadgroup_barrier(mem_flags::mem_none);
  p[turn + 1] = a[turn] + b[turn];
  simdgroup_barrier(mem_flags::mem_none);
  out[i] = *(p + simd_max(turn) + 1);
}
