// A counter that some count in atomically, and one does not.
#include <metal_stdlib>
using namespace metal;

kernel void atomic_and_plain(device atomic_uint* count, uint i [[thread_position_in_grid]]) {
  if (i == 70) {
    *(device uint*)count += 1;  // wrong
  } else {
    atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);  // wrong
  }
}
