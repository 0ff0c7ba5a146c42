// Points of three floats, packed by the host, are read as float3, which has the size of four.
// CHECK: --threads 10 --group 10 --arg points=f32[10,3]=uniform --arg out=f32[10]=zeros
// FINDS: out-of-bounds point
#include <metal_stdlib>
using namespace metal;

#ifdef REPAIRED
typedef packed_float3 Point;
#else
typedef float3 Point;
#endif

kernel void lengths(device const float* points, device float* out, uint i [[thread_position_in_grid]]) {
  const float3 point = ((device const Point*)points)[i];  // @point
  out[i] = length(point);
}
