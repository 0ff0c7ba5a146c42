// Lanes that have ended take part in nothing any more; lanes that return from a function wait behind its call.
#include <metal_stdlib>
using namespace metal;

#define MASK uint(ulong(simd_active_threads_mask()))
#define TRACE(t) t = t * 31 + MASK
#define NOINLINE __attribute__((noinline))

// RUN: --kernel early --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: (1020 20) x 10 0 x 12
kernel void early(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i >= 20) return;
  out[i] = simd_sum(1u);
  if (i % 2) return;
  out[i] += 100 * simd_sum(1u);
}

// RUN: --kernel from_loops --threads 40 --group 40 --arg out=u32[40]=zeros
// EXPECT out: 0 21 21 4294967294 21 21 4294967224 21 21 4294895736 21 21 3219006526 21 21 4226175288 21 21 2609158648
// EXPECT+: 21 21 352981694 21 21 3423843000 21 x 5 0 0 0 7 x 7
kernel void from_loops(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  for (uint a = 0; a < 3; ++a) {
    for (uint b = 0; b < 3; ++b) {
      if (9 * (i % 3) + i / 3 == 3 * a + b) {
        out[i] = trace;
        return;
      }
      TRACE(trace);
    }
    TRACE(trace);
    if (i == 30 + a) return;
  }
  out[i] = simd_sum(1u);
}

static uint first_divisor(uint n, thread uint& trace) {
  for (uint d = 2; d * d <= n; ++d) {
    TRACE(trace);
    if (n % d == 0) return d;
  }
  TRACE(trace);
  return n;
}

static NOINLINE uint kept_first_divisor(uint n, thread uint& trace) { 
  for (uint d = 2; d * d <= n; ++d) {
    TRACE(trace);
    if (n % d == 0) return d;
  }
  TRACE(trace);
  return n;
}

// RUN: --kernel from_functions --threads 32 --group 32 --arg out=u32[32,3]=zeros
// EXPECT out: 2 673352235 32 3 673352235 32 2 4294967292 32 5 673352111 32 2 4294967292 32 7 673352111 32 2
// EXPECT+: 4294967292 32 3 2863311364 32 2 4294967292 32 11 3536658599 32 2 4294967292 32 13 3536658599 32 2
// EXPECT+: 4294967292 32 3 2863311364 32 2 4294967292 32 17 3195552559 32 2 4294967292 32 19 3195552559 32 2
// EXPECT+: 4294967292 32 3 2863311364 32 2 4294967292 32 23 3195552559 32 2 4294967292 32 5 3201677572 32 2
// EXPECT+: 4294967292 32 3 2863311364 32 2 4294967292 32 29 1141109159 32 2 4294967292 32 31 1141109159 32 2
// EXPECT+: 4294967292 32 3 2863311364 32
kernel void from_functions(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  out[3 * i] = first_divisor(i + 2, trace);
  out[3 * i + 1] = trace;
  out[3 * i + 2] = simd_sum(1u);
}

// RUN: --kernel from_kept_functions --threads 32 --group 32 --arg out=u32[32,3]=zeros
// EXPECT out: 2 673352235 32 3 673352235 32 2 4294967292 32 5 673352111 32 2 4294967292 32 7 673352111 32 2
// EXPECT+: 4294967292 32 3 2863311364 32 2 4294967292 32 11 3536658599 32 2 4294967292 32 13 3536658599 32 2
// EXPECT+: 4294967292 32 3 2863311364 32 2 4294967292 32 17 3195552559 32 2 4294967292 32 19 3195552559 32 2
// EXPECT+: 4294967292 32 3 2863311364 32 2 4294967292 32 23 3195552559 32 2 4294967292 32 5 3201677572 32 2
// EXPECT+: 4294967292 32 3 2863311364 32 2 4294967292 32 29 1141109159 32 2 4294967292 32 31 1141109159 32 2
// EXPECT+: 4294967292 32 3 2863311364 32
kernel void from_kept_functions(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  out[3 * i] = kept_first_divisor(i + 2, trace);
  out[3 * i + 1] = trace;
  out[3 * i + 2] = simd_sum(1u);
}

// Lanes that end inside of arms, next to lanes that go on.
// RUN: --kernel from_arms --threads 64 --group 64 --arg out=u32[64]=zeros
// EXPECT out: 0 0 2834063181 0 2080317035 0 0 2939304536 0 0 2080317035 3693056448 0 0 2834063181 0 x 4 2939304536
// EXPECT+: 2834063181 0 2080317035 3693056448 0 0 2834063181 0 2080317035 0 0 2939304536 0 0 1794996527 4165066616 0
// EXPECT+: 0 2733443845 0 0 4165066616 0 3225629468 2733443845 0 1794996527 4165066616 0 3225629468 2733443845 0
// EXPECT+: 1794996527 4165066616 0 3225629468 0 0 1794996527 4165066616 0 3225629468 2733443845 0
kernel void from_arms(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  if (i % 2) {
    if (i % 4 == 1 && i < 40) return;
    TRACE(trace);
  } else {
    TRACE(trace);
    if (i % 8 == 0) return;
  }
  TRACE(trace);
  switch (i % 3) {
    case 0: return;
    case 1: TRACE(trace); [[fallthrough]];
    default: out[i] = trace * 31 + MASK;
  }
}

// A shuffle's source that has ended is no source.
// RUN: --kernel shuffle_from_the_ended --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: 0 0 101 1 103 1 102 1 0 0 105 1 107 1 106 1 0 0 109 1 111 1 110 1 0 0 113 1 115 1 114 1 0 0 117 1 119 1
// EXPECT+: 118 1 0 0 121 1 123 1 122 1 0 0 125 1 127 1 126 1 0 0 129 1 131 1 130 1
kernel void shuffle_from_the_ended(device uint2* out, uint i [[thread_position_in_grid]]) {
  if (i % 4 == 0) return;
  out[i] = uint2(simd_shuffle_xor(100 + i, 1u), simd_broadcast_first(i));
}
