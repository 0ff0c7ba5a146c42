// Compaction draws places from a counter in threadgroup memory that nobody sets.
// CHECK: --threads 32 --group 32 --arg x=i32[32]=arange --arg out=i32[32]=zeros --arg count=i32[1]=zeros
// FINDS: uninitialised draw
#include <metal_stdlib>
using namespace metal;

kernel void count_odd(device const int* x, device int* out, device int* count,
                      uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_int next;
#ifdef REPAIRED
  if (i == 0) atomic_store_explicit(&next, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  if (x[i] % 2 == 1) {
    const int place = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);  // @draw
    if (place >= 0 && place < 32) out[place] = x[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) count[0] = 32;
}
