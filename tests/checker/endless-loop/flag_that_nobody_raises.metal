// A threadgroup waits until two others have counted a number up; there is one other.
// CHECK: --timeout 1 --threadgroups 2 --group 1 --arg ready=u32[1]=zeros --arg out=u32[2]=zeros
// FINDS: endless-loop
#include <metal_stdlib>
using namespace metal;

kernel void relay(device atomic_uint* ready, device uint* out, uint group [[threadgroup_position_in_grid]]) {
#ifndef REPAIRED
  if (group == 0) {
    while (atomic_load_explicit(ready, memory_order_relaxed) < 2) {
    }
  }
#endif
  if (group == 1) atomic_fetch_add_explicit(ready, 1, memory_order_relaxed);
  out[group] = group;
}
