// Compaction: the counter of what is kept is a plain variable that many threads add to.
// CHECK: --threads 64 --group 64 --arg x=i32[64]=arange --arg out=i32[1]=zeros
// FINDS: threadgroup-race add add
#include <metal_stdlib>
using namespace metal;

kernel void count_large(device const int* x, device int* out, uint i [[thread_position_in_threadgroup]]) {
#ifdef REPAIRED
  threadgroup atomic_int kept;
  if (i == 0) atomic_store_explicit(&kept, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (x[i] > 10) atomic_fetch_add_explicit(&kept, 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) out[0] = atomic_load_explicit(&kept, memory_order_relaxed);
#else
  threadgroup int kept;
  if (i == 0) kept = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (x[i] > 10) kept += 1;  // @add
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) out[0] = kept;
#endif
}
