// Rotary position embedding: pairs of neighbours in x (heads, length, size) are turned by the angles of their position,
// whose cosines and sines are in turns (length, size / 2).
#include <metal_stdlib>
using namespace metal;

kernel void rope(device float2* out, device const float2* x, device const float2* turns, constant uint& pairs,
                 uint i [[thread_position_in_grid]]) {
  const float2 pair = x[i], turn = turns[i % pairs];
  out[i] = float2(pair.x * turn.x - pair.y * turn.y, pair.x * turn.y + pair.y * turn.x);
}
