// Operations across lanes in loops that lanes leave at different times: who is still in the loop takes part, all that
// left wait behind it. TRACE keeps, in one number, who took part in each operation, in order.
#include <metal_stdlib>
using namespace metal;

#define MASK uint(ulong(simd_active_threads_mask()))
#define TRACE(t) t = t * 31 + MASK

// Turn k of lane i: odd lanes leave in turn i before the sum, even ones after turn i.
// RUN: --kernel leave_early --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 32032 32032 32092 32092 32148 32148 32200 32200 32248 32248 32292 32292 32332 32332 32368 32368 32400
// EXPECT+: 32400 32428 32428 32452 32452 32472 32472 32488 32488 32500 32500 32508 32508 32512 32512
kernel void leave_early(device uint* out, uint i [[thread_position_in_grid]]) {
  uint total = 0;
  for (uint k = 0; k <= i; ++k) {
    if (k % 2 == 1) {
      if (i == k) break;
    }
    total += simd_sum(1u);
  }
  out[i] = total + 1000 * simd_sum(1u);
}

// RUN: --kernel nested_trip_counts --threads 40 --group 40 --arg out=u32[40,2]=zeros
// EXPECT out: 0 4294967264 2840236318 613565768 1359449078 3681369906 1145323690 4294967264 911435062 613565768
// EXPECT+: 3805402690 3681369906 3149642654 4294967264 1145323690 613565768 13634486 3681369906 4008636142 4294967264
// EXPECT+: 1359449078 613565768 1691737526 3681369906 0 4294967264 2840236318 613565768 1359449078 3681369906
// EXPECT+: 1145323690 4294967264 911435062 613565768 3805402690 3681369906 3149642654 4294967264 1145323690 613565768
// EXPECT+: 13634486 3681369906 4008636142 4294967264 1359449078 613565768 1691737526 3681369906 0 4294967264
// EXPECT+: 2840236318 613565768 1359449078 3681369906 1145323690 4294967264 911435062 613565768 3805402690 3681369906
// EXPECT+: 3149642654 4294967264 1145323690 613565768 97341 7703972 238 8160 225975591 248689 7290527 7703972 0 8160
// EXPECT+: 231949 248689 225975591 7703972 235178 8160
kernel void nested_trip_counts(device uint2* out, uint i [[thread_position_in_grid]]) {
  uint inner = 0, outer = 0;
  for (uint a = 0; a <= i % 3; ++a) {
    for (uint b = 0; b < (i + a) % 4; ++b) {
      TRACE(inner);
    }
    TRACE(outer);
  }
  TRACE(outer);
  out[i] = uint2(inner, outer);
}

// Breaks and continues of an inner loop that end or skip a turn of the outer one too.
// RUN: --kernel out_of_two_levels --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: 0 4294967295 1022196694 4294967295 3216488654 4294967295 3098183432 2252386551 2398964950 1623294479
// EXPECT+: 214918908 1623294479 3708472110 1623294479 3415483970 1623294479 1889663422 1623294479 3206948842
// EXPECT+: 1623294479 0 4294967295 3167974426 2801371119 4231749698 3195545351 2730175414 2801371119 2436475682
// EXPECT+: 1034907879 2615341628 1623294479 3995672402 3773017111 3966140416 1755643903 3199091774 2801371119
// EXPECT+: 1714775694 2033302007 982591284 2698802703 2016283154 2033302007 4173387714 3195545351 13022986 2033302007
// EXPECT+: 542273728 4018849791 2503070276 2033302007 2016283154 2033302007 509479166 2698802703 1570180858
// EXPECT+: 1034907879 421529514 538165231 807761660 3773017111 0 4294967295
kernel void out_of_two_levels(device uint2* out, uint i [[thread_position_in_grid]]) {
  uint inner = 0, outer = 0;
  for (uint a = 0; a < 4; ++a) {
    bool leave = false, skip = false;
    for (uint b = 0; b < 4; ++b) {
      if (a * 4 + b == i) {
        leave = true;
        break;
      }
      if ((a + b + i) % 5 == 0) continue;
      if ((a * b + i) % 7 == 3) {
        skip = true;
        break;
      }
      TRACE(inner);
    }
    if (leave) break;
    if (skip) continue;
    TRACE(outer);
  }
  TRACE(outer);
  out[i] = uint2(inner, outer);
}

// RUN: --kernel continues --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 2290638326 100126619 3391895461 3425867472 4031905162 3432920549 2300589811 2964383696 1601873826
// EXPECT+: 3470561399 3467456161 3002024546 291732966 1514108541 2153028359 2607373106 3389434142 3528224635
// EXPECT+: 960049181 3059687782 2079293282 1571771777 3940588675 2665036342 2116934132 2681364655 3978229525
// EXPECT+: 3774629220 2490313520 3172442601 2688902639 3346256532
kernel void continues(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  for (uint k = 0; k < 6; TRACE(trace), ++k) {  // all that are in the loop meet here, whatever way they came
    if ((i >> (k % 5)) & 1) continue;
    TRACE(trace);
    if (k > i) break;
  }
  TRACE(trace);
  out[i] = trace;
}

// The condition is computed by those that go round again.
// RUN: --kernel do_while --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: (4294967264 1) x 4 (4294965838 2) x 4 (4294914192 3) x 4 (4293194126 4) x 4 (4237967440 5) x 4
// EXPECT+: (2495465934 6) x 12
kernel void do_while(device uint2* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0, turns = 0;
  do {
    ++turns;
    TRACE(trace);
  } while (turns <= i / 4 && simd_sum(1u) > 8);
  TRACE(trace);
  out[i] = uint2(trace, turns);
}

// A condition that lanes compute together and each judges by itself.
// RUN: --kernel condition --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: 1302175452 29 1361092436 43 1730283999 44 3505688961 31 3643740095 44 1890310591 41 1498560052 33
// EXPECT+: 3756603167 43 3094099776 41 186887905 35 794743300 44 979472224 38 4162448020 37 2559661732 43 708886655
// EXPECT+: 38 2489572481 39 3227550528 42 132537439 35 357366004 41 777626783 39 2755434400 35 3613458977 43
// EXPECT+: 423047040 36 1409255360 32 1084974564 43 2423353407 33 536869919 32 2500313727 43 536869919 32 2147483616
// EXPECT+: 32 536869919 32 4294967295 31
kernel void condition(device uint2* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0, x = i;
  while (x < simd_max(x)) {
    x += 1 + i % 3;
    TRACE(trace);
  }
  TRACE(trace);
  out[i] = uint2(trace, x);
}

// A condition that is the same for all: nobody leaves before the others.
// RUN: --kernel until_all_are_done --threads 40 --group 40 --arg out=u32[40,2]=zeros
// EXPECT out: 10 0 (10 1 10 2 10 3) x 10 10 1 12 2 12 3 12 1 12 2 12 3 12 1 12 2 12 3
kernel void until_all_are_done(device uint2* out, uint i [[thread_position_in_grid]]) {
  uint turns = 0, x = i;
  while (simd_any(x > 3)) {
    x = x > 3 ? x - 3 : x;
    ++turns;
  }
  out[i] = uint2(turns, x);
}

// Lanes of one key after the other: each turn serves the key of the first lane that is left.
// RUN: --kernel one_key_at_a_time --threads 40 --group 40 --arg out=u32[40,2]=zeros
// EXPECT out: 5 (0 9) x 4 1 9 1 9 1 5 1 (9 2) x 3 (9 3) x 3 5 2 (9 4) x 3 (9 5) x 3 5 3 (9 6) x 3 (9 7) x 3 5 4 (9 8)
// EXPECT+: x 3 3 0 2 0 2 0 1 0 2 1 2 1 3 1 3 2
kernel void one_key_at_a_time(device uint* out, uint i [[thread_position_in_grid]]) {
  uint key = i * i % 7, members = 0, position = 0;
  for (bool done = false; !done;) {
    if (simd_broadcast_first(key) == key) {
      members = simd_sum(1u);
      position = simd_prefix_exclusive_sum(1u);
      done = true;
    }
  }
  out[2 * i] = members;
  out[2 * i + 1] = position;
}

// Everything that does not change in the loop but who is in it.
// RUN: --kernel nothing_moves_out --threads 32 --group 32 --arg out=u32[32]=zeros --arg one=u32:1
// EXPECT out: 32 x 8 56 x 8 72 x 8 80 x 8
kernel void nothing_moves_out(device uint* out, constant uint& one, uint i [[thread_position_in_grid]]) {
  uint total = 0;
  for (uint k = 0; k < i / 8 + 1; ++k) total += simd_sum(one);
  out[i] = total;
}

// Loops that some lanes do not enter, one behind the other.
// RUN: --kernel one_after_another --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 901567946 3764879425 938152 4050978789 960 (2863311509 4294967295 3149622293 4294967295) x 6 2863311509
// EXPECT+: 1073741823 2075880469
kernel void one_after_another(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  for (uint k = i; k < 5; ++k) TRACE(trace);
  for (uint k = 29; k < i; ++k) TRACE(trace);
  if (i % 2) {
    for (uint k = 0; k < i % 4; ++k) TRACE(trace);
  }
  TRACE(trace);
  out[i] = trace;
}

// Quadgroups in loops of their own lengths, and lanes of one quadgroup in different turns.
// RUN: --kernel quads --threads 16 --group 16 --arg out=u32[16]=zeros
// EXPECT out: 4 438 13830 428858 469 14853 460695 14281673 14884 461718 14313510 443718938 461749 14314533 443750775
// EXPECT+: 871372265
kernel void quads(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  for (uint k = 0; k < i % 4 + i / 4; ++k) trace = trace * 31 + uint(ulong(quad_active_threads_mask()));
  out[i] = trace * 31 + quad_sum(1u);
}

// The lanes of a simdgroup leave at the head of the last turn, all at once or one by one: the rest of that turn, which
// changes memory, runs for none.
// RUN: --kernel all_leave --threads 64 --group 64 --arg counts=u32[4]=zeros --arg indices=u32[256]=2
// EXPECT counts: 0 0 256 0
kernel void all_leave(device atomic_uint* counts, device const uint* indices, uint i [[thread_position_in_grid]]) {
  for (; i < 256; i += 64) atomic_fetch_add_explicit(&counts[indices[i]], 1u, memory_order_relaxed);
}

// RUN: --kernel leave_one_by_one --threads 32 --group 32 --arg counts=u32[32]=zeros
// EXPECT counts: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
kernel void leave_one_by_one(device atomic_uint* counts, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < i; ++k) atomic_fetch_add_explicit(&counts[i], 1u, memory_order_relaxed);
}

// Lanes come into the loop's body in three places.
// RUN: --kernel jumped_into --threads 64 --group 64 --arg right=u32[64]=zeros --arg in=i32[64]=arange
// ENGINE: simd
// EXPECT right: 1 x 64
kernel void jumped_into(device uint* right, device const int* in, uint i [[thread_position_in_grid]]) {
  const int value = in[i];
  int sum = 1, turn = 0;
  switch (value & 3) {
    case 0: do {
        if (i % 2 == 0) continue;
        case 1:
          if (sum < 1) continue;
        case 2: sum += value;
      } while (turn++ < 4);
  }
  const int additions = (value & 3) == 1 ? 5 : (value & 3) == 2 ? 1 : 0;
  right[i] = sum == 1 + value * additions;
}
