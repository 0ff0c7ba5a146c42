// Each thread fills a chunk of four, and with `<=` the first element of its neighbour's too.
// CHECK: --threads 64 --group 64 --arg out=u32[257]=zeros
// FINDS: device-race fill fill
#include <metal_stdlib>
using namespace metal;

kernel void fill(device uint* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  for (uint k = i * 4; k < i * 4 + 4; ++k) out[k] = i;
#else
  for (uint k = i * 4; k <= i * 4 + 4; ++k) out[k] = i;  // @fill
#endif
}
