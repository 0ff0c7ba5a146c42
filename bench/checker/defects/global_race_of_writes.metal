// Two threadgroups write different values to one place.
#include <metal_stdlib>
using namespace metal;

kernel void global_race_of_writes(device uint* x, uint i [[thread_position_in_grid]]) {
  x[i % 64] = i;  // wrong
}
