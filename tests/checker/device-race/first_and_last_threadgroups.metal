// A ring of results that is half as long as the grid: threadgroups far from each other, which different cores run, write
// one place.
// CHECK: --threads 32768 --group 64 --arg out=u32[16384]=zeros --arg length=16384
// FINDS: device-race write write
#include <metal_stdlib>
using namespace metal;

kernel void ring(device uint* out, constant uint& length, uint i [[thread_position_in_grid]]) {
  uint x = i;
  for (uint k = 0; k < 40; ++k) x = x * 1664525u + 1013904223u;
#ifdef REPAIRED
  if (i >= length) return;
#endif
  out[i % length] = x;  // @write
}
