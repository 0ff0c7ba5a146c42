// Each threadgroup leaves its sum and draws a ticket; the one that draws the last adds all sums up. The ticket is
// atomic, the sums are not: a relaxed ticket does not publish what was written before it.
// CHECK: --threads 256 --group 64 --arg x=u32[256]=ones --arg sums=u32[4]=zeros --arg ticket=u32[1]=zeros --arg out=u32[1]=zeros
// FINDS: device-race leave add
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const uint* x, device uint* sums, device atomic_uint* ticket, device uint* out,
                uint i [[thread_position_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                uint groups [[threadgroups_per_grid]]) {
  if (i > 0) return;
  uint own = 0, all = 0;
  for (uint k = 0; k < 64; ++k) own += x[group * 64 + k];
#ifdef REPAIRED
  device atomic_uint* published = (device atomic_uint*)sums;
  atomic_store_explicit(published + group, own, memory_order_relaxed);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
#else
  sums[group] = own;  // @leave
#endif
  if (atomic_fetch_add_explicit(ticket, 1, memory_order_relaxed) + 1 < groups) return;
#ifdef REPAIRED
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  for (uint k = 0; k < groups; ++k) all += atomic_load_explicit(published + k, memory_order_relaxed);
#else
  for (uint k = 0; k < groups; ++k) all += sums[k];  // @add
#endif
  out[0] = all;
}
