// Every order and scope of fences, barriers and atomic operations (MSL spec §6.9.1, §6.15).
#include <metal_stdlib>
using namespace metal;

// The threadgroup that comes last adds up what all have written.
// RUN: --kernel last_one_sums --threads 4096 --group 64 --arg partial=u32[64]=zeros --arg count=u32[1]=0 --arg out=u32[1]=0
// EXPECT count: 64
// EXPECT out: 8386560
kernel void last_one_sums(device uint* partial, device atomic_uint* count, device uint* out,
                          uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]],
                          uint group [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint sum;
  threadgroup bool is_last;
  if (local == 0) atomic_store_explicit(&sum, 0u, memory_order_release);
  threadgroup_barrier(mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_threadgroup);
  atomic_fetch_add_explicit(&sum, i, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (local == 0) {
    partial[group] = atomic_load_explicit(&sum, memory_order_acquire);
    atomic_thread_fence(mem_flags::mem_device, memory_order_release, thread_scope_device);
    is_last = atomic_fetch_add_explicit(count, 1u, memory_order_relaxed) == 63;
    atomic_thread_fence(mem_flags::mem_device, memory_order_acquire, thread_scope_device);
  }
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_seq_cst, thread_scope_device);
  if (!is_last || local != 0) return;
  uint total = 0;
  for (uint g = 0; g < 64; ++g) total += partial[g];
  out[0] = total;
}

// RUN: --kernel orders --threads 64 --group 64 --arg out=u32[6]=zeros
// EXPECT out: 64 2016 63 1 2016 7
kernel void orders(device atomic_uint* out, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(out, 1u, memory_order_acq_rel);
  atomic_fetch_add_explicit(out + 1, i, memory_order_seq_cst);
  atomic_fetch_max_explicit(out + 2, i, memory_order_release);
  atomic_exchange_explicit(out + 3, 1u, memory_order_acquire);
  uint seen = atomic_load_explicit(out + 4, memory_order_seq_cst);
  while (!atomic_compare_exchange_weak_explicit(out + 4, &seen, seen + i, memory_order_acq_rel, memory_order_acquire)) {
  }
  simdgroup_barrier(mem_flags::mem_device, memory_order_acq_rel, thread_scope_simdgroup);
  atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_seq_cst, thread_scope_threadgroup);
  atomic_thread_fence(mem_flags::mem_none, memory_order_seq_cst);
  atomic_thread_fence(mem_flags::mem_device, memory_order_relaxed);
  atomic_store_explicit(out + 5, 7u, memory_order_seq_cst);
}
