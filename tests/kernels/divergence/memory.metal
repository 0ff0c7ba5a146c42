// Memory that only some lanes touch, at places that only their numbers make sense of.
#include <metal_stdlib>
using namespace metal;

// To add one sets a bit, in the lanes that come to it.
// RUN: --kernel every_second --threads 16,4,3 --group 16,2,3 --arg right=u32[192]=zeros --arg in=u32[193]=arange
// ENGINE: simd
// EXPECT right: (1 0) x 96
kernel void every_second(device uint* right, device const uint* in, uint3 grid [[thread_position_in_grid]],
                         uint3 size [[threads_per_grid]]) {
  const uint i = (grid.z * size.y + grid.y) * size.x + grid.x;
  const uint next = in[i + 1];
  if (i & 1) return;
  right[i] = next == i + 1;
}

// One index, elements of two sizes.
// RUN: --kernel two_sizes --threads 32,4 --group 32,4 --arg right=u32[128]=zeros --arg in=f32[512]=arange
// ENGINE: simd
// EXPECT right: 1 x 128
kernel void two_sizes(device uint* right, device const float* in, uint2 grid [[thread_position_in_grid]],
                      uint2 size [[threads_per_grid]]) {
  const uint i = grid.y * size.x + grid.x;
  const float one = in[i], first_of_four = ((device const float4*)in)[i].x;
  right[i] = one == i && first_of_four == 4 * i;
}
