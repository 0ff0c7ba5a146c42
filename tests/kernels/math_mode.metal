// Math modes that a part of a source sets for itself.
#include <metal_stdlib>
using namespace metal;

#pragma METAL fp math_mode(safe)
float keep_order(float a, float b) { return (a + b) - a; }

// Fast math would take a away from itself first.
// RUN: --kernel safe_part --threads 2 --group 2 --arg a=f32[2]=100000000,1 --arg b=f32[2]=1,2 --arg x=f32[2]=ones
// EXPECT x: 0 2
kernel void safe_part(device const float* a, device const float* b, device float* x,
                      uint i [[thread_position_in_grid]]) {
  x[i] = keep_order(a[i], b[i]);
}
