// Counts in a bin that an argument does not have.
#include <metal_stdlib>
using namespace metal;

kernel void atomic_past_end(device atomic_uint* bins, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[i % 17], 1u, memory_order_relaxed);  // wrong
}
