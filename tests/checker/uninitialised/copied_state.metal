// A struct is copied before all of its members are set: the copy reads what nobody wrote.
// CHECK: --threads 4 --group 4 --arg x=f32[4]=arange --arg out=f32[4]=zeros
// FINDS: uninitialised copy
#include <metal_stdlib>
using namespace metal;

struct State {
  float largest, sum;
};

kernel void copies(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  State state;
  state.largest = x[i];
#ifdef REPAIRED
  state.sum = 1;
#endif
  State best = state;  // @copy
  best.largest += 1;
  out[i] = best.largest + best.sum;
}
