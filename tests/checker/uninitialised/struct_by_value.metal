// Structs go by value into a function and out of another; a member is never set.
// CHECK: --threads 4 --group 4 --arg x=f32[4]=arange --arg out=f32[4]=zeros
// FINDS: uninitialised use
#include <metal_stdlib>
using namespace metal;

struct Sample {
  float value;
  uint index;
  float weights[3];
};

static Sample sample_at(float value, uint i) {
  Sample sample;
  sample.value = value;
  sample.index = i;
  sample.weights[0] = sample.weights[1] = 1;
#ifdef REPAIRED
  sample.weights[2] = 1;
#endif
  return sample;
}

static float weighed(Sample sample) {
  return sample.value * sample.weights[sample.index % 3];  // @use
}

kernel void samples(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = weighed(sample_at(x[i], i));
}
