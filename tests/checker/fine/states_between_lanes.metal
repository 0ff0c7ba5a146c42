// The running maximum and sum of a softmax, as a struct that lanes exchange member by member; the lanes behind the end
// have a state that says so, and no value.
// CHECK: --threads 32 --group 32 --arg x=f32[20]=uniform --arg out=f32[20]=zeros --arg n=20
#include <metal_stdlib>
using namespace metal;

struct State {
  float largest, sum;
  ushort count;
};

static State joined(State a, State b) {
  State state;
  state.largest = max(a.largest, b.largest);
  state.sum = a.sum * exp(a.largest - state.largest) + b.sum * exp(b.largest - state.largest);
  state.count = a.count + b.count;
  return state;
}

kernel void softmax(device const float* x, device float* out, constant uint& n, ushort lane [[thread_index_in_simdgroup]]) {
  State state;
  float value;
  if (lane < n) {
    value = x[lane];
    state = {value, 1, 1};
  } else {
    state.largest = -1e9f;
    state.sum = 0;
    state.count = 0;
  }
  for (ushort step = 16; step > 0; step /= 2) {
    State other;
    other.largest = simd_shuffle_xor(state.largest, step);
    other.sum = simd_shuffle_xor(state.sum, step);
    other.count = simd_shuffle_xor(state.count, step);
    state = joined(state, other);
  }
  if (lane < n) out[lane] = exp(value - state.largest) / state.sum * state.count;
}
