// Operations across lanes in the cases of a switch: those that chose the case, with those that fall into it.
#include <metal_stdlib>
using namespace metal;

#define MASK uint(ulong(simd_active_threads_mask()))
#define TRACE(t) t = t * 31 + MASK

// RUN: --kernel cases --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 4294967294 2045 4294967275 4294967287 4294967275 4294967294 2045 (4294967275 4294967287 4294967275
// EXPECT+: 4294967294 4294967295) x 5
kernel void cases(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  switch (i % 5) {
    case 0: TRACE(trace); break;
    case 3: TRACE(trace); break;
    case 1:
      if (i > 9) break;
      TRACE(trace);
      break;
    default: TRACE(trace);
  }
  TRACE(trace);
  out[i] = trace;
}

// Lanes that fall through join those of the case below.
// RUN: --kernel fall_through --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: (3149640490 2863311323 2004318056 4294019191) x 4 (3148626604 2862357019 2003369518 4294019191) x 4
kernel void fall_through(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  switch (i % 4) {
    case 0: TRACE(trace); [[fallthrough]];
    case 1: TRACE(trace); [[fallthrough]];
    case 2:
      TRACE(trace);
      if (i < 16) break;
      [[fallthrough]];
    default: TRACE(trace);
  }
  TRACE(trace);
  out[i] = trace;
}

// A machine of states: in each turn every lane is in some state, and those of one state go together.
// RUN: --kernel states --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: 272694646 3 1477517263 6 886248635 3 4158465328 4 476932857 4 886248635 3 272694646 3 476932857 4
// EXPECT+: 2025902912 5 4158465328 4 476932857 4 2025902912 5 811039035 5 2233373327 6 2025902912 5 1133026054 6
// EXPECT+: 2233373327 6 944635904 7 1691554619 7 2233373327 6 944635904 7 4093524680 6 898904657 6 944635904 7
// EXPECT+: 2376667963 7 898904657 6 1629749248 7 4093524680 6 898904657 6 1629749248 7 2376667963 7 898904657 6
kernel void states(device uint2* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0, turns = 0, state = i % 3;
  while (state != 4) {
    ++turns;
    switch (state) {
      case 0:
        TRACE(trace);
        state = i % 2 ? 2 : 1;
        break;
      case 1:
        TRACE(trace);
        state = turns > i / 4 ? 3 : 2;
        break;
      case 2:
        TRACE(trace);
        state = turns > 5 ? 4 : 1;
        break;
      default:
        TRACE(trace);
        state = turns > 2 ? 4 : 0;
    }
  }
  TRACE(trace);
  out[i] = uint2(trace, turns);
}

// A way into the middle of a loop: cases inside of it.
// RUN: --kernel into_a_loop --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 3200101 3200100 3200101 3200100 3200202 3200201 3200202 3200201 3200303 3200302 3200303 3200302 3200404
// EXPECT+: 3200403 3200404 3200403 3200505 3200504 3200505 3200504 3200606 3200605 3200606 3200605 3200707 3200706
// EXPECT+: 3200707 3200706 3200808 3200807 3200808 3200807
kernel void into_a_loop(device uint* out, uint i [[thread_position_in_grid]]) {
  uint total = 0, turns = i / 4 + 1;
  switch (i % 2) {
    case 0:
      do {
        total += 1;
        [[fallthrough]];
        case 1: total += 100;
      } while (--turns > 0);
  }
  out[i] = total + 100000 * simd_sum(1u);
}

// Every way out of a switch in a loop in a loop.
// RUN: --kernel in_loops --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: 569424286 4294966303 202934757 4294966303 0 4294966303 2864111310 4294966303 1569475684 4294966303 0
// EXPECT+: 4294966303 2935958360 4294966303 2519847651 4294966303 0 4294966303 774723402 4294966303 537762468
// EXPECT+: 4294966303 0 4294966303 569424286 4294966303 202934757 4294966303 0 4294966303 2864111310 4294966303
// EXPECT+: 1569475684 4294966303 0 4294966303 2935958360 4294966303 2519847651 4294966303 0 4294966303 774723402
// EXPECT+: 4294966303 537762468 4294966303 0 4294966303 569424286 4294966303 202934757 4294966303 0 4294966303
// EXPECT+: 2864111310 4294966303 1569475684 4294966303 0 4294966303 2935958360 4294966303 2519847651 4294966303
kernel void in_loops(device uint* out, uint i [[thread_position_in_grid]]) {
  uint inner_trace = 0, outer_trace = 0;
  for (uint a = 0; a < 3; ++a) {
    uint inner = 0;
    while (true) {
      if (inner > (i + a) % 4) break;
      switch (i % 3) {
        case 0: inner += 1; break;
        case 1:
          inner += 2;
          TRACE(inner_trace);
          break;
        default: inner += 3; continue;
      }
      TRACE(inner_trace);
    }
    TRACE(outer_trace);
  }
  out[2 * i] = inner_trace;
  out[2 * i + 1] = outer_trace;
}
