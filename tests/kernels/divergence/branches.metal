// Operations across lanes behind branches: exactly the lanes that took the branch take part, and all meet again behind
// it. MASK is one bit per lane that takes part.
#include <metal_stdlib>
using namespace metal;

#define MASK uint(ulong(simd_active_threads_mask()))
#define QUAD_MASK uint(ulong(quad_active_threads_mask()))

// Multiples of three sum to 165; eleven lanes have remainder 1.
// RUN: --kernel three_ways --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: (165 4294967295 1011 4294967295 2000 4294967295) x 10 165 4294967295 1011 4294967295
kernel void three_ways(device uint2* out, uint i [[thread_position_in_grid]]) {
  uint sum;
  if (i % 3 == 0)
    sum = simd_sum(i);
  else if (i % 3 == 1)
    sum = 1000 + simd_sum(1u);
  else
    sum = 2000;
  out[i] = uint2(sum, MASK);
}

// Leaf, behind the inner branch, behind the outer one. Bits with i % 4 == r: 0x11111111 << r; odd: 0xaaaaaaaa.
// RUN: --kernel nested --threads 32 --group 32 --arg out=u32[32,3]=zeros
// EXPECT out: (286331153 1431655765 4294967295 572662306 2863311530 4294967295 1145324612 1431655765 4294967295
// EXPECT+: 2290649224 2863311530 4294967295) x 8
kernel void nested(device uint* out, uint i [[thread_position_in_grid]]) {
  uint leaf, inner;
  if (i & 1) {
    if (i & 2) {
      leaf = MASK;
    } else {
      leaf = MASK;
    }
    inner = MASK;
  } else {
    if (i & 2) {
      leaf = MASK;
    } else {
      leaf = MASK;
    }
    inner = MASK;
  }
  out[3 * i] = leaf;
  out[3 * i + 1] = inner;
  out[3 * i + 2] = MASK;
}

// One simdgroup goes left, one right, one is split; the last has eight lanes.
// RUN: --kernel by_simdgroup --threads 104 --group 104 --arg out=u32[104]=zeros
// EXPECT out: 32 x 32 132 x 32 (16 116) x 16 (4 104) x 4
kernel void by_simdgroup(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i < 32 || (i >= 64 && i % 2 == 0)) {
    out[i] = simd_sum(1u);
  } else {
    out[i] = 100 + simd_sum(1u);
  }
}

// The right side runs for those lanes only that the left side leaves undecided, and all are there behind it.
// RUN: --kernel short_circuit --threads 32 --group 32 --arg out=u32[32,4]=zeros
// EXPECT out: (1 0 1 4294967295 0 0 1 4294967295) x 4 (1 0 0 4294967295 0 0 0 4294967295) x 12
kernel void short_circuit(device uint* out, uint i [[thread_position_in_grid]]) {
  bool both = i % 2 == 0 && MASK == 0x55555555;
  bool three = i % 2 == 0 && simd_sum(1u) == 16 && i > 7 && simd_sum(1u) == 16;
  bool either = i < 8 || simd_any(i == 3);
  out[4 * i] = both;
  out[4 * i + 1] = three;
  out[4 * i + 2] = either;
  out[4 * i + 3] = MASK;
}

// RUN: --kernel conditional --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: (2005 1016) x 5 (3011 1016) x 11
kernel void conditional(device uint* out, uint i [[thread_position_in_grid]]) {
  // Odd lanes, even lanes below ten, the other even lanes: 16, 5 and 11 of them.
  out[i] = i % 2 ? 1000 + simd_sum(1u) : i < 10 ? 2000 + simd_sum(1u) : 3000 + simd_sum(1u);
}

// A lane whose source is in the other arm has no source: it keeps its own value.
// RUN: --kernel shuffle_across_arms --threads 32 --group 32 --arg out=u32[32,4]=zeros
// EXPECT out: 0 100 0 200 1 100 1 201 2 100 0 202 3 100 1 203 4 100 2 204 5 100 3 205 6 100 4 206 7 100 5 207 108 108
// EXPECT+: 110 308 109 108 111 309 110 108 112 310 111 108 113 311 112 108 114 312 113 108 115 313 114 108 116 314
// EXPECT+: 115 108 117 315 116 108 118 316 117 108 119 317 118 108 120 318 119 108 121 319 120 108 122 320 121 108
// EXPECT+: 123 321 122 108 124 322 123 108 125 323 124 108 126 324 125 108 127 325 126 108 128 326 127 108 129 327
// EXPECT+: 128 108 130 328 129 108 131 329 130 108 130 330 131 108 131 331
kernel void shuffle_across_arms(device uint4* out, uint i [[thread_position_in_grid]]) {
  if (i < 8) {
    uint own = simd_shuffle_xor(i, 8u);          // lanes 8 to 15 are elsewhere
    uint first = 100 + simd_broadcast_first(i);  // lane 0
    uint up = simd_shuffle_up(i, 2u);            // lanes 0 and 1 have none
    uint there = 200 + simd_broadcast(i, 20);    // lane 20 is elsewhere
    out[i] = uint4(own, first, up, there);
  } else {
    uint own = 100 + simd_shuffle(i, ushort(i % 8));  // as are lanes 0 to 7
    uint first = 100 + simd_broadcast_first(i);       // lane 8
    uint down = 100 + simd_shuffle_down(i, 2u);       // lanes 30 and 31 have none
    uint there = 300 + simd_broadcast(i, 3);
    out[i] = uint4(own, first, down, there);
  }
}

// Quadgroups of which one, two or three lanes take part, and the others after them.
// RUN: --kernel quads --threads 12 --group 12 --arg out=u32[12,4]=zeros
// EXPECT out: 0 1 0 0 106 14 1 2 106 14 3 2 106 14 2 2 9 3 5 4 9 3 4 5 113 12 7 6 113 12 6 6 27 7 9 10 27 7 8 10 27 7
// EXPECT+: 10 10 111 8 11 11
kernel void quads(device uint4* out, uint i [[thread_position_in_grid]]) {
  if (i % 4 <= i / 4) {
    out[i] = uint4(quad_sum(i), QUAD_MASK, quad_shuffle_xor(i, 1u), quad_broadcast(i, 2));
  } else {
    out[i] = uint4(100 + quad_sum(i), QUAD_MASK, quad_shuffle_xor(i, 1u), quad_broadcast(i, 2));
  }
}

// Scans and votes see the lanes that are there; the others leave no gap. Odd lanes here: 1 3 5 7 ...
// RUN: --kernel scans --threads 40 --group 40 --arg out=u32[40,4]=zeros
// EXPECT out: 0 x 5 1 1 1 0 x 4 1 4 1 0 x 5 4 9 1 0 x 5 9 16 1 0 x 5 16 25 1 0 x 5 25 36 1 0 x 5 36 49 1 0 x 5 49 64
// EXPECT+: 1 0 x 5 64 81 1 0 x 5 81 100 1 0 x 5 100 121 1 0 x 5 121 144 1 0 x 5 144 169 1 0 x 5 169 196 1 0 x 5 196
// EXPECT+: 225 1 0 x 5 225 256 1 0 x 6 33 1 1 0 x 4 33 68 1 0 x 5 68 105 1 0 x 5 105 144 1 0
kernel void scans(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i % 2) {
    out[4 * i] = simd_prefix_exclusive_sum(i);
    out[4 * i + 1] = simd_prefix_inclusive_sum(i);
    out[4 * i + 2] = simd_all(i % 2 == 1) && !simd_any(i % 2 == 0);
    out[4 * i + 3] = simd_is_first();
  }
}

// What all lanes computed before the branch is not computed inside of it, and the other way round: least and greatest
// of all lanes, of lanes 4 to 7, and of the rest.
// RUN: --kernel stays_where_it_is --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: (0 31) x 4 (4 38) x 4 (0 31) x 24
kernel void stays_where_it_is(device uint2* out, uint i [[thread_position_in_grid]]) {
  uint least = simd_min(i), greatest = simd_max(i);
  if (i / 4 == 1) {
    least = simd_min(i);
    greatest += simd_max(i);
  }
  out[i] = uint2(least, greatest);
}

// The same condition twice, with a meeting in between: all take part in it, once.
// RUN: --kernel between --threads 32 --group 32 --arg out=u32[32]=zeros --arg count=u32:0
// EXPECT out: (1000032 32) x 16
kernel void between(device uint* out, device atomic_uint* count, uint i [[thread_position_in_grid]]) {
  bool even = i % 2 == 0;
  uint x = 0;
  if (even) x = 1000000;
  x += simd_sum(1u);
  if (even) atomic_fetch_add_explicit(count, x, memory_order_relaxed);
  out[i] = x;
}

// A branch that nobody takes, and one that all do.
// RUN: --kernel uniform_branches --threads 48 --group 48 --arg out=u32[48]=zeros --arg n=u32:100
// EXPECT out: 32 x 32 16 x 16
kernel void uniform_branches(device uint* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  uint x = 0;
  if (i >= n) x = 1000 + simd_sum(1u);
  if (i < n) x += simd_sum(1u);
  out[i] = x;
}

// A variable that only one of two ways sets, to the same in all lanes, the last of them or the first one.
// RUN: --kernel set_on_one_way --threads 32 --group 32 --arg out=u32[32,2]=zeros --arg in=u32[32]=arange
// EXPECT out: (720 496 768 527) x 16
kernel void set_on_one_way(device uint2* out, device const uint* in, uint i [[thread_position_in_grid]]) {
  uint odd, even, sum = 0;
  bool is_odd = in[i] & 1;
  if (is_odd) {
    odd = simd_sum(in[i]) * in[3];
    sum += simd_max(in[i]);
  } else {
    even = simd_sum(in[i]) * in[3];
    sum += simd_min(in[i]);
  }
  sum += simd_sum(sum);
  if (is_odd) out[i] = uint2(odd, sum);
  if (!is_odd) out[i] = uint2(even, sum);
}

// Ways that do nothing but choose words: each lane has its own.
// RUN: --kernel aligned_words --threads 24 --group 24 --arg out=u32[24]=zeros
// EXPECT out: 305419896 2978743087 4083297882 2792166344 1793700028 1963270454 3659966328 2220087105 3817839600 966641425
// EXPECT+: 3236576286 1648008158 2024661556 4246398331 2813244732 1075928919 4047752552 3247676226 2389839314 503849900
// EXPECT+: 1315035052 2246621357 1966508784 4226737956
kernel void aligned_words(device uint* out, uint i [[thread_position_in_grid]]) {
  const uint high = i * 2654435761u, low = high ^ 0x12345678u;
  uint word = low;
  switch (i & 3) {
    case 1: word = (high << 24) | (low >> 8); break;
    case 2: word = (high << 16) | (low >> 16); break;
    case 3: word = (high << 8) | (low >> 24); break;
  }
  out[i] = word;
}
