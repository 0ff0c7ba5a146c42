// A linear layer's epilogue, specialised when the kernel is made: out = activation(in * scale + bias).
//
// Function constants are fixed when the host creates the kernel, so the branches below are gone from the code
// that runs. `has_bias` also gates the buffer: without a bias, nothing needs to be bound at index 2.
//
//   metalloid run examples/kernels/function_constants.metal --kernel epilogue --threads 64,8 --group 32,8
//       --constant has_bias=true --constant activation=1 --constant scale=0.5
//       --arg out=f32[8,64]=zeros --arg in=f32[8,64]=normal --arg bias=f32[64]=ones
#include <metal_stdlib>
using namespace metal;

constant bool has_bias [[function_constant(0)]];
constant int activation [[function_constant(1)]];  // 0: none, 1: relu, 2: silu
constant float scale [[function_constant(2)]];
constant float used_scale = is_function_constant_defined(scale) ? scale : 1.0f;

kernel void epilogue(device float* out [[buffer(0)]],
                     device const float* in [[buffer(1)]],
                     device const float* bias [[buffer(2), function_constant(has_bias)]],
                     uint2 position [[thread_position_in_grid]],
                     uint2 size [[threads_per_grid]]) {
  const uint i = position.y * size.x + position.x;
  float value = in[i] * used_scale;
  if (has_bias) {
    value += bias[position.x];
  }
  if (activation == 1) {
    value = max(value, 0.0f);
  } else if (activation == 2) {
    value = value / (1.0f + exp(-value));
  }
  out[i] = value;
}
