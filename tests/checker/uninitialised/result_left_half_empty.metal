// A result is stored as a whole, also where nothing was found.
// CHECK: --threads 4 --group 4 --arg x=f32[4]=-1,1,-1,1 --arg out=f32[8]=zeros
// FINDS: uninitialised store
#include <metal_stdlib>
using namespace metal;

struct Hit {
  float distance;
  float index;
};

kernel void hits(device const float* x, device Hit* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  Hit hit = {};
#else
  Hit hit;
#endif
  if (x[i] > 0) {
    hit.distance = x[i];
    hit.index = i;
  }
  out[i] = hit;  // @store
}
