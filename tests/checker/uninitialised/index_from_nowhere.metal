// The place that a search did not find is used as an index, and decides a branch.
// CHECK: --threads 4 --group 4 --arg x=f32[8]=arange --arg out=f32[8]=zeros --arg wanted=9.0
// FINDS: uninitialised branch
#include <metal_stdlib>
using namespace metal;

static void find(device const float* x, float wanted, thread uint& place) {
  for (uint k = 0; k < 8; ++k) {
    if (x[k] == wanted) place = k;
  }
}

kernel void mark(device const float* x, device float* out, constant float& wanted, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  uint place = 8;
#else
  uint place;
#endif
  find(x, wanted, place);
  if (place < 8) out[place] = 1;  // @branch
}
