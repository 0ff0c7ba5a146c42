// A struct for the state of an online softmax, of which one member is forgotten.
// CHECK: --threads 4 --group 4 --arg x=f32[4,8]=uniform --arg out=f32[4]=zeros
// FINDS: uninitialised sum
#include <metal_stdlib>
using namespace metal;

struct State {
  float largest, sum;
};

kernel void log_sum_exp(device const float* x, device float* out, uint row [[thread_position_in_grid]]) {
  State state;
  state.largest = -1e9f;
#ifdef REPAIRED
  state.sum = 0;
#endif
  for (uint k = 0; k < 8; ++k) {
    const float largest = max(state.largest, x[row * 8 + k]);
    const float before = state.sum * exp(state.largest - largest);  // @sum
    state.sum = before + exp(x[row * 8 + k] - largest);
    state.largest = largest;
  }
  out[row] = state.largest + log(state.sum);
}
