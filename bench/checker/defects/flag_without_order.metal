// A flag that is raised atomically orders nothing that was written before it.
#include <metal_stdlib>
using namespace metal;

kernel void flag_without_order(device uint* data, device atomic_uint* flag, device uint* out,
                               uint i [[thread_position_in_grid]]) {
  if (i == 0) {
    data[0] = 7;  // wrong
    atomic_store_explicit(flag, 1u, memory_order_relaxed);
  } else if (i == 64 && atomic_load_explicit(flag, memory_order_relaxed) == 1) {
    out[0] = data[0];  // wrong
  }
}
