// Threads of all threadgroups meet in one number, atomically, and read it atomically, too.
// CHECK: --threads 256 --group 64 --arg count=u32[1]=zeros --arg out=u32[256]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void tickets(device atomic_uint* count, device uint* out, uint i [[thread_position_in_grid]]) {
  const uint ticket = atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  out[i] = atomic_load_explicit(count, memory_order_relaxed) > ticket;
}
