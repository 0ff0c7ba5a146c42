// Two outputs of different lengths in one struct: the shorter one ends first, and the other one lies wherever it lies.
// CHECK: --threads 16 --group 16 --arg x=f32[16]=arange --arg even=f32[8]=zeros --arg odd=f32[7]=zeros
// FINDS: out-of-bounds write
#include <metal_stdlib>
using namespace metal;

struct Output {
  device float* begin;
  uint count;
};

kernel void deal(device const float* x, device float* even, device float* odd, uint i [[thread_position_in_grid]]) {
  Output outputs[2] = {{even, 8}, {odd, 7}};
  const Output output = outputs[i % 2];
#ifdef REPAIRED
  if (i / 2 >= output.count) return;
#endif
  output.begin[i / 2] = x[i];  // @write
}
