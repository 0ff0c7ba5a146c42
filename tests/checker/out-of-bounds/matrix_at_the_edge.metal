// Matrices of 8 x 8 are loaded from one of 12 x 12 without asking whether they lie inside of it.
// CHECK: --threadgroups 2 --group 32 --arg a=f32[12,12]=uniform --arg out=f32[2,64]=zeros
// FINDS: out-of-bounds load
#include <metal_stdlib>
using namespace metal;

kernel void tiles(device const float* a, device float* out, uint group [[threadgroup_position_in_grid]]) {
  simdgroup_float8x8 m;
#ifdef REPAIRED
  const uint row = min(group * 8, 4u);
#else
  const uint row = group * 8;
#endif
  simdgroup_load(m, a, 12, ulong2(0, row));  // @load
  simdgroup_store(m, out + group * 64, 8);
}
