// Coordinates by a vector of extents, of which one is zero.
// CHECK: --threads 4 --group 4 --arg out=u32[4]=zeros --arg extents={2,2,0,2}
// FINDS: division-by-zero wrap
#include <metal_stdlib>
using namespace metal;

kernel void wrap(device uint* out, constant uint4& extents, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  const uint4 at = uint4(i) % max(extents, uint4(1));
#else
  const uint4 at = uint4(i) % extents;  // @wrap
#endif
  out[i] = at.x + at.y + at.z + at.w;
}
