// Rotary embedding: each thread turns element i and its partner half of the head further. The host gave threads for all
// elements of the head, not for half of them.
// CHECK: --threads 16,2 --group 16,2 --arg x=f32[2,16]=uniform --arg cosines=f32[8]=ones --arg sines=f32[8]=zeros
// CHECK REPAIRED: --threads 8,2 --group 8,2 --arg x=f32[2,16]=uniform --arg cosines=f32[8]=ones --arg sines=f32[8]=zeros
// FINDS: out-of-bounds angle
#include <metal_stdlib>
using namespace metal;

kernel void rope(device float* x, device const float* cosines, device const float* sines,
                 uint2 p [[thread_position_in_grid]]) {
  const float c = cosines[p.x];  // @angle
  const uint at = p.y * 16 + p.x % 8;
  if (p.x >= 8) return;
  const float s = sines[p.x], a = x[at], b = x[at + 8];
  x[at] = a * c - b * s;
  x[at + 8] = a * s + b * c;
}
