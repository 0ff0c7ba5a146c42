// Atomics in device and threadgroup memory.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel count --threads 1000 --group 128 --arg counts=u32[3]=zeros
// EXPECT counts: 1000 499500 999
kernel void count(device atomic_uint* counts, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&counts[0], 1u, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[1], i, memory_order_relaxed);
  atomic_fetch_max_explicit(&counts[2], i, memory_order_relaxed);
}

// RUN: --kernel floats --threads 100 --group 32 --arg sum=f32[1]=zeros
// EXPECT sum: 50
kernel void floats(device atomic_float* sum, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(sum, 0.5f, memory_order_relaxed);
}

// A thread's neighbours in memory, from an aligned place on and from another one.
// RUN: --kernel neighbours --threads 64 --group 32 --arg sums=f32[9]=zeros --arg first=0
// EXPECT sums: 32 64 96 128 32 64 96 128 0
// RUN: --kernel neighbours --threads 64 --group 32 --arg sums=f32[9]=zeros --arg first=1
// EXPECT sums: 0 32 64 96 128 32 64 96 128
kernel void neighbours(device atomic_float* sums, constant uint& first, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < 4; ++k) {
    atomic_fetch_add_explicit(sums + first + i % 2 * 4 + k, float(k + 1), memory_order_relaxed);
  }
}

// RUN: --kernel exchange --threads 64 --group 64 --arg x=i32[1]=0
// EXPECT x: 64
kernel void exchange(device atomic_int* x, uint i [[thread_position_in_grid]]) {
  int expected = atomic_load_explicit(x, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(x, &expected, expected + 1, memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
}

// RUN: --kernel local --threads 256 --group 64 --arg x=u32[4]=zeros
// EXPECT x: 64 64 64 64
kernel void local(device uint* x, uint i [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint n;
  if (i == 0) atomic_store_explicit(&n, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) x[g] = atomic_load_explicit(&n, memory_order_relaxed);
}

// Lanes that count in few places: by bytes, by words, only some of them, and with a number that is not one.
// RUN: --kernel counted --threads 96 --group 96 --arg counts=u32[32]=zeros --arg bytes=u8[96]=arange --arg step=3
// EXPECT counts: 14 14 14 14 14 13 13 0 144 0 0 108 0 0 0 18 15 18 18 15 18 15 18 18 15 18 15 18 18 15 18 18
kernel void counted(device uint* counts, device const uchar* bytes, constant uint& step,
                    uint i [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint all[32];
  if (i < 32) atomic_store_explicit(&all[i], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uchar byte = bytes[i];
  atomic_fetch_add_explicit(&all[uchar(byte % 7)], 1, memory_order_relaxed);
  if (byte % 8 < 7) atomic_fetch_add_explicit(&all[8 + i % 2 * 3], step, memory_order_relaxed);
  atomic_fetch_sub_explicit(&all[15 + (byte * step + i / 32) % 17], -step, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 32) counts[i] = atomic_load_explicit(&all[i], memory_order_relaxed);
}
