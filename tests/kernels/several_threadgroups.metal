// Small threadgroups, several of which run in one call: each knows where it is.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel places --threads 320,3 --group 32,1 --arg out=u32[960]=zeros
// EXPECT out: (0 x 32) (1 x 32) (2 x 32) (3 x 32) (4 x 32) (5 x 32) (6 x 32) (7 x 32) (8 x 32) (9 x 32)
// EXPECT+: (100 x 32) (101 x 32) (102 x 32) (103 x 32) (104 x 32) (105 x 32) (106 x 32) (107 x 32) (108 x 32) (109 x 32)
// EXPECT+: (200 x 32) (201 x 32) (202 x 32) (203 x 32) (204 x 32) (205 x 32) (206 x 32) (207 x 32) (208 x 32) (209 x 32)
// ENGINE: simd
kernel void places(device uint* out, uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]],
                   uint2 group [[threadgroup_position_in_grid]]) {
  out[p.y * n.x + p.x] = group.x + 100 * group.y;
}

// The last one is smaller than the others.
// RUN: --kernel sizes --threads 135 --group 32 --arg out=u32[135]=zeros
// EXPECT out: (32 x 32) (132 x 32) (232 x 32) (332 x 32) (407 x 7)
// RUN: --kernel sizes --threads 135 --group 20 --arg out=u32[135]=zeros
// EXPECT out: (20 x 20) (120 x 20) (220 x 20) (320 x 20) (420 x 20) (520 x 20) (615 x 15)
// RUN: --kernel sizes --threads 5 --group 1 --arg out=u32[5]=zeros
// EXPECT out: 1 101 201 301 401
kernel void sizes(device uint* out, uint p [[thread_position_in_grid]], uint size [[threads_per_threadgroup]],
                  uint group [[threadgroup_position_in_grid]]) {
  out[p] = group * 100 + size;
}

// Each begins with its own variables.
// RUN: --kernel variables --threads 256 --group 32 --arg out=u32[256]=zeros
// EXPECT out: (1 x 32) (2 x 32) (3 x 32) (4 x 32) (5 x 32) (6 x 32) (7 x 32) (8 x 32)
kernel void variables(device uint* out, uint p [[thread_position_in_grid]],
                      uint group [[threadgroup_position_in_grid]]) {
  uint own[4] = {};
  own[group % 4] += group;
  out[p] = own[0] + own[1] + own[2] + own[3] + 1;
}

[[gnu::noinline]] static uint twice(uint x) { return 2 * x; }

// RUN: --kernel calls --threads 128 --group 32 --arg out=u32[128]=zeros
// EXPECT out: (0 x 32) (2 x 32) (4 x 32) (6 x 32)
kernel void calls(device uint* out, uint p [[thread_position_in_grid]], uint group [[threadgroup_position_in_grid]]) {
  out[p] = twice(group);
}

// A report names the one that fails.
// RUN: --kernel outside --threads 320 --group 32 --arg out=u32[320]=zeros
// ERROR out_of_bounds: thread (231, 0, 0)
kernel void outside(device uint* out, uint p [[thread_position_in_grid]]) { out[p == 231 ? 400 : p] = p; }
