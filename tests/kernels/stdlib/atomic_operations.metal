// Every atomic operation on every type that has it, in device and in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel integers --threads 64 --group 64 --arg out=i32[9]=0,0,100,-1,0,0,5,70,0 --arg old=i32[1]=zeros
// EXPECT out: 64 -64 -1 63 63 0 9 99 2016
// EXPECT old: 5
kernel void integers(device atomic_int* out, device int* old, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(out, 1, memory_order_relaxed);
  atomic_fetch_sub_explicit(out + 1, 1, memory_order_relaxed);
  atomic_fetch_min_explicit(out + 2, int(i) - 1, memory_order_relaxed);
  atomic_fetch_max_explicit(out + 3, int(i), memory_order_relaxed);
  atomic_fetch_or_explicit(out + 4, int(i), memory_order_relaxed);
  atomic_fetch_xor_explicit(out + 5, int(i), memory_order_relaxed);
  if (i == 0) old[0] = atomic_exchange_explicit(out + 6, 9, memory_order_relaxed);
  if (i == 1) atomic_store_explicit(out + 7, 99, memory_order_relaxed);
  int seen = atomic_load_explicit(out + 8, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(out + 8, &seen, seen + int(i), memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
}

// RUN: --kernel wide --threads 64 --group 32 --arg out=u64[2]=0,1000
// EXPECT out: 63 0
kernel void wide(device atomic_ulong* out, uint i [[thread_position_in_grid]]) {
  atomic_max_explicit(out, ulong(i), memory_order_relaxed);
  atomic_min_explicit(out + 1, ulong(i), memory_order_relaxed);
}

// Compared by bits, a NaN matches itself and the loop ends.
// RUN: --kernel floats --threads 64 --group 64 --arg out=f32[4]=0,0,nan,0
// EXPECT out: 32 -16 1 2016
kernel void floats(device atomic_float* out, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(out, 0.5f, memory_order_relaxed);
  atomic_fetch_sub_explicit(out + 1, 0.25f, memory_order_relaxed);
  float seen = atomic_load_explicit(out + 2, memory_order_relaxed);
  if (i == 0) {
    while (!atomic_compare_exchange_weak_explicit(out + 2, &seen, 1.0f, memory_order_relaxed, memory_order_relaxed)) {
    }
  }
  threadgroup atomic_float sum;
  if (i == 0) atomic_store_explicit(&sum, 0.0f, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&sum, float(i), memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) atomic_store_explicit(out + 3, atomic_load_explicit(&sum, memory_order_relaxed), memory_order_relaxed);
}

// Through volatile and reinterpreted pointers; bool has loads, stores and exchanges.
// RUN: --kernel views --threads 40 --group 40 --arg out=u32[2]=zeros --arg flags=bool[2]=zeros
// EXPECT out: 40 780
// EXPECT flags: 1 1
kernel void views(device uint* out, device atomic_bool* flags, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(reinterpret_cast<device atomic_uint*>(out), 1u, memory_order_relaxed);
  volatile device atomic_uint* sum = (volatile device atomic_uint*)(out + 1);
  atomic_fetch_add_explicit(sum, i, memory_order_relaxed);
  if (i == 0) atomic_store_explicit(flags, true, memory_order_relaxed);
  if (i == 1 && !atomic_exchange_explicit(flags + 1, true, memory_order_relaxed)) {
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  }
}
