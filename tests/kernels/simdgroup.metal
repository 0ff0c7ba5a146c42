// Reductions, scans, shuffles and votes, in whole and in partial simdgroups.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel reduce --threads 40 --group 40 --arg out=i32[40,4]=zeros --arg in=i32[40]=arange
// EXPECT out: 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 496 31 0 31 284 39 32 39 284 39 32 39 284 39 32 39 284 39 32 39 284 39 32 39 284 39 32 39 284 39 32 39 284 39 32 39
kernel void reduce(device int4* out, device const int* in, uint i [[thread_position_in_grid]]) {
  out[i] = int4(simd_sum(in[i]), simd_max(in[i]), simd_min(in[i]), simd_or(in[i]));
}

// RUN: --kernel scan --threads 5 --group 5 --arg out=f32[5,2]=zeros --arg in=f32[5]=1,2,3,4,5
// EXPECT out: 1 0 3 1 6 3 10 6 15 10
kernel void scan(device float2* out, device const float* in, uint i [[thread_position_in_grid]]) {
  out[i] = float2(simd_prefix_inclusive_sum(in[i]), simd_prefix_exclusive_sum(in[i]));
}

// RUN: --kernel shuffle --threads 8 --group 8 --arg out=i32[8,4]=zeros
// EXPECT out: 1 0 3 10 0 0 3 10 3 1 3 10 2 2 3 10 5 3 3 10 4 4 3 10 7 5 3 10 6 6 3 10
kernel void shuffle(device int4* out, uint i [[thread_position_in_grid]]) {
  int mine = int(i);
  int up = simd_shuffle_up(mine, 1);
  out[i] = int4(simd_shuffle_xor(mine, 1), i == 0 ? 0 : up, simd_broadcast(mine, 3), simd_broadcast_first(mine + 10));
}

// Shifts by odd numbers of pairs that go on in a loop.
// RUN: --kernel shifted_pairs --threads 32 --group 32 --arg n=2 --arg out=f32[32,2]=zeros
// EXPECT out: 0 0 4 -4 8 -8 12 -12 16 -16 20 -20 24 -24 28 -28 32 -32 36 -36 40 -40 44 -44 48 -48 52 -52 56 -56 60 -60 64 -64 68 -68 72 -72 19 -19 23 -23 27 -27 31 -31 35 -35 39 -39 43 -43 47 -47 51 -51 55 -55 59 -59 63 -63 67 -67
kernel void shifted_pairs(constant uint& n, device float2* out, uint i [[thread_position_in_grid]]) {
  float2 sum = float2(float(i), -float(i));
  for (uint k = 0; k < n; ++k) {
    const float2 other = simd_shuffle_up(sum, 19);
    sum += i < 19 ? sum : other;
  }
  out[i] = sum;
}

// Only the lanes that take part count.
// RUN: --kernel divergent --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256
kernel void divergent(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i % 2 == 1) {
    out[i] = simd_sum(i);
  } else {
    out[i] = simd_sum(i);
  }
}

// RUN: --kernel vote --threads 4 --group 4 --arg out=u32[4]=zeros
// EXPECT out: 7 x 4
kernel void vote(device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = uint(simd_any(i == 2)) + 2 * uint(simd_all(i < 4)) + 4 * uint(!simd_all(i < 3));
}

// RUN: --kernel quad --threads 8 --group 8 --arg out=f32[8]=zeros
// EXPECT out: 6 x 4 22 x 4
kernel void quad(device float* out, uint i [[thread_position_in_grid]]) { out[i] = quad_sum(float(i)); }

// Metal's functions are templates: one of the source's own for the exact type wins.
static inline float simd_sum(float x) { return metal::simd_sum(x) + 1000; }

// RUN: --kernel own_function --threads 32 --group 32 --arg x=f32[2]=zeros
// EXPECT x: 1032 32
kernel void own_function(device float* x) {
  x[0] = simd_sum(1.0f);
  x[1] = simd_sum(1);
}

// Halves are rounded at each step: 1 + 1 + ... is exact; 2048 + 1 is a tie that goes back to 2048; 65504 twice is too
// much; and subnormal ones count.
// RUN: --kernel halves --threads 2 --group 2 --arg out=f16[2,5]=zeros --arg in=f16[8]=1,1,2048,1,65504,65504,6e-8,1.2e-7
// EXPECT out: (2 2048 inf 1.78813934326171875e-7 65504) x 2
kernel void halves(device half* out, device const half* in, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < 4; ++k) out[5 * i + k] = simd_sum(in[2 * k + i]);
  out[5 * i + 4] = simd_max(in[4 + i]);
}

// NaN loses against any number in least and greatest, spoils sums, and is there if nothing else is; -0 + -0 is -0.
// RUN: --kernel special_floats --threads 32 --group 32 --arg out=f32[32,3]=zeros --arg sign=i32[32]=zeros
// RUN+: --arg nan=f32:nan --arg zero=f32:-0.0
// EXPECT out: (-10 21 nan) x 2 nan x 3 (-10 21 nan) x 29
// EXPECT sign: -2147483648 x 32
kernel void special_floats(device float* out, device int* sign, constant float& nan, constant float& zero,
                           uint i [[thread_position_in_grid]]) {
  float x = i == 2 ? nan : float(i) - 10;
  out[3 * i] = simd_min(x);
  out[3 * i + 1] = simd_max(x);
  out[3 * i + 2] = metal::simd_sum(x);
  sign[i] = as_type<int>(metal::simd_sum(zero));
  if (i == 2) {
    out[3 * i] = simd_min(x);
    out[3 * i + 1] = simd_max(x);
  }
}

// RUN: --kernel signs --threads 2 --group 2 --arg out=i64[2,4]=zeros
// EXPECT out: (-5 3 3 -5) x 2
kernel void signs(device long* out, uint i [[thread_position_in_grid]]) {
  int x = i ? 3 : -5;
  out[4 * i] = simd_min(x);
  out[4 * i + 1] = simd_min(uint(x));
  out[4 * i + 2] = simd_max(long(x));
  out[4 * i + 3] = long(simd_max(ulong(long(x))));
}
