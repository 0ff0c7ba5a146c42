// What stands in front of a `break` or `return` belongs to the turn of the loop: lanes that leave in one turn take part
// in it together, and no lane that leaves in another.
#include <metal_stdlib>
using namespace metal;

#define MASK uint(ulong(simd_active_threads_mask()))
#define TRACE(t) t = t * 31 + MASK
#define NOINLINE __attribute__((noinline))

// Each turn serves the key of the first lane that is left.
// RUN: --kernel waterfall --threads 40 --group 40 --arg out=u32[40,3]=zeros
// EXPECT out: 5 0 32 9 0 132 9 0 232 9 0 332 9 1 332 9 1 232 9 1 132 5 1 32 9 2 132 9 2 232 9 2 332 9 3 332 9 3 232 9 3
// EXPECT+: 132 5 2 32 9 4 132 9 4 232 9 4 332 9 5 332 9 5 232 9 5 132 5 3 32 9 6 132 9 6 232 9 6 332 9 7 332 9 7 232 9
// EXPECT+: 7 132 5 4 32 9 8 132 9 8 232 9 8 332 3 0 8 2 0 108 2 0 208 1 0 308 2 1 208 2 1 108 3 1 8 3 2 8
kernel void waterfall(device packed_uint3* out, uint i [[thread_position_in_grid]]) {
  uint key = i * i % 7, members = 0, position = 0, turn = 0;
  while (true) {
    uint first = simd_broadcast_first(key);
    if (key == first) {
      members = simd_sum(1u);
      position = simd_prefix_exclusive_sum(1u);
      break;
    }
    ++turn;
  }
  out[i] = uint3(members, position, turn * 100 + simd_sum(1u));
}

static uint members_of(uint key) {
  while (true) {
    if (key == simd_broadcast_first(key)) return simd_sum(1u);
  }
}

static NOINLINE uint kept_members_of(uint key) {
  for (;;) {
    if (key == simd_broadcast_first(key)) {
      uint members = simd_sum(1u);
      return members;
    }
  }
}

// RUN: --kernel waterfall_with_return --threads 40 --group 40 --arg out=u32[40,3]=zeros
// EXPECT out: 7 7 4 7 7 4 6 6 4 6 6 4 6 6 4 7 7 4 7 7 4 6 6 4 6 6 4 6 6 4 7 7 4 7 7 4 6 6 4 6 6 4 6 6 4 7 7 4 7 7 4 6 6
// EXPECT+: 4 6 6 4 6 6 4 7 7 4 7 7 4 6 6 4 6 6 4 6 6 4 7 7 4 7 7 4 6 6 4 6 6 4 6 6 4 7 7 4 7 7 4 2 2 1 2 2 1 2 2 1 1 1
// EXPECT+: 1 1 1 1 2 2 1 2 2 1 2 2 1
kernel void waterfall_with_return(device packed_uint3* out, uint i [[thread_position_in_grid]]) {
  out[i] = uint3(members_of(i % 5), kept_members_of(i % 5), 0);
  for (uint k = 0; k < 40; ++k) {
    if (i % 8 == k) {
      out[i].z = simd_sum(1u);
      return;
    }
  }
}

// Out of the inner loop, out of both, on to the next turn of either.
// RUN: --kernel nested --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 178169943 3178667797 380914615 8 3901291879 266274009 4165564027 2164756480 286331376 4030157918
// EXPECT+: 3764646975 279511072 839060752 2647571673 3948087762 3494686005 1484868368 3287841845 2465180605 94814210
// EXPECT+: 2385320691 3314537686 3114521496 3243110643 3782752583 4224443675 3543923767 657299384 78360998 1410694775
// EXPECT+: 2965535291 637978343
kernel void nested(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  for (uint a = 0; a < 4; ++a) {
    if ((a + i) % 6 == 5) {
      TRACE(trace);
      continue;
    }
    for (uint b = 0; b < 5; ++b) {
      if ((b + i) % 4 == 1) {
        TRACE(trace);
        continue;
      }
      if ((a * 5 + b + i) % 9 == 0) {
        TRACE(trace);
        break;
      }
      if (a * 5 + b + 3 == i) {
        TRACE(trace);
        out[i] = trace;
        return;
      }
    }
    if (a == i % 7) {
      TRACE(trace);
      break;
    }
  }
  TRACE(trace);
  out[i] = trace;
}

// A switch in a loop: its own breaks, and a flag that ends the loop.
// RUN: --kernel switches --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 1041203230 4294967231 4164812923 4294967287 520601599 4294967294 2082406399 4294967291 260293111
// EXPECT+: 4294967279 1041203230 4294967231 4164812923 4294967287 520601599 4294967294 2082406399 4294967291 260293111
// EXPECT+: 4294967279 1041203230 4294967231 4164812923 4294967287 520601599 4294967294 2082406399 4294967291 260293111
// EXPECT+: 4294967279 1041203230 4294967231
kernel void switches(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  for (uint k = 0; k < 6; ++k) {
    bool done = false;
    switch ((i + k) % 5) {
      case 0: TRACE(trace); done = i % 2; break;
      case 1: TRACE(trace); continue;
      case 2:
        if (k > 3) {
          TRACE(trace);
          done = true;
        }
        break;
      default: break;
    }
    if (done) break;
  }
  TRACE(trace);
  out[i] = trace;
}

// RUN: --kernel do_while --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 510158888 1495616 3200 4165091841 1495616 3200 3200 1495616 510158888 1495616 1495616 4165091841 1495616
// EXPECT+: 1495616 3339782409 1495616 510158888 381681664 381681664 4165091841 381681664 381681664 3339782409 381681664
// EXPECT+: 510158888 4282992905 4282992905 4165091841 4282992905 4282992905 3339782409 4282992905
kernel void do_while(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0, k = 0;
  do {
    if (k * 3 == i % 8) {
      TRACE(trace);
      break;
    }
    if (k == i % 3) continue;
    if (k > i / 8) {
      TRACE(trace);
      TRACE(trace);
      out[i] = trace;
      return;
    }
  } while (++k < 4);
  TRACE(trace);
  out[i] = trace;
}

static bool goes_on(uint k, uint i, thread uint& trace) {
  if (k == i % 6) {
    TRACE(trace);
    return false;
  }
  return true;
}

// Conditions: in front of what says that the loop ends.
// RUN: --kernel conditions --threads 32 --group 32 --arg out=u32[32,3]=zeros
// EXPECT out: 3749574622 4294967295 3749574622 3204181949 3204181949 3204181949 2113396603 2113396603 2113396603
// EXPECT+: 4226793207 4226793207 4226793207 4158619119 4158619119 4158619119 4022270943 4022270943 4022270943
// EXPECT+: 3749574622 4294967295 3749574622 3204181949 3204181949 3204181949 2113396603 2113396603 2113396603
// EXPECT+: 4226793207 4226793207 4226793207 4158619119 4158619119 4158619119 4022270943 4022270943 4022270943
// EXPECT+: 3749574622 4294967295 3749574622 3204181949 3204181949 3204181949 2113396603 2113396603 2113396603
// EXPECT+: 4226793207 4226793207 4226793207 4158619119 4158619119 4158619119 4022270943 4022270943 4022270943
// EXPECT+: 3749574622 4294967295 3749574622 3204181949 3204181949 3204181949 2113396603 2113396603 2113396603
// EXPECT+: 4226793207 4226793207 4226793207 4158619119 4158619119 4158619119 4022270943 4022270943 4022270943
// EXPECT+: 3749574622 4294967295 3749574622 3204181949 3204181949 3204181949 2113396603 2113396603 2113396603
// EXPECT+: 4226793207 4226793207 4226793207 4158619119 4158619119 4158619119 4022270943 4022270943 4022270943
// EXPECT+: 3749574622 4294967295 3749574622 3204181949 3204181949 3204181949
kernel void conditions(device packed_uint3* out, uint i [[thread_position_in_grid]]) {
  uint first = 0, second = 0, third = 0, k = 0;
  while (goes_on(k, i, first)) ++k;
  TRACE(first);
  k = 0;
  do {
    ++k;
  } while (goes_on(k, i, second) && k < 9);
  TRACE(second);
  for (k = 0; k < 9; ++k) {
    if (!goes_on(k, i, third)) break;
  }
  TRACE(third);
  out[i] = uint3(first, second, third);
}

// A branch of a branch, and both arms leave.
// RUN: --kernel both_arms --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 753489705 1077952064 2155643008 1732950345 33681920 65274880 978700873 269455360 522199071 3534641611
// EXPECT+: 2155643008 4177592568 2507329113 65274880 3355969472 2878763721 522199071 1077952064 1555277133 4177592568
// EXPECT+: 33681920 3852282473 3355969472 269455360 753489705 1077952064 2155643008 1732950345 33681920 65274880
// EXPECT+: 978700873 269455360
kernel void both_arms(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  for (uint k = 0; k < 8; ++k) {
    if (k == i % 8) {
      TRACE(trace);
      if (i % 3 == 0) {
        TRACE(trace);
        break;
      }
      TRACE(trace);
      out[i] = trace;
      return;
    }
  }
  TRACE(trace);
  out[i] = trace;
}

template <typename T>
static T last_of(T x, uint steps) {
  for (T k = 0;; ++k) {
    if (k == T(steps)) {
      x = simd_max(x);
      break;
    }
  }
  return x;
}

// RUN: --kernel templates --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: 28 30 29 31 30 27 31 28 28 29 29 30 30 31 31 27 28 28 29 29 30 30 31 31 28 27 29 28 30 29 31 30 28 31 29
// EXPECT+: 27 30 28 31 29 28 30 29 31 30 27 31 28 28 29 29 30 30 31 31 27 28 28 29 29 30 30 31 31
kernel void templates(device uint2* out, uint i [[thread_position_in_grid]]) {
  out[i] = uint2(last_of(i, i % 4), uint(last_of(float(i), i % 5)));
}

// Lanes 31 and others have returned before a loop from a number that four lanes share; some of the rest leave earlier.
// RUN: --kernel runs_of_some --threads 100 --group 50 --arg right=u32[100]=zeros --arg in=u32[64]=arange --arg n=13
// EXPECT right: 1 x 100
// RUN: --kernel runs_of_some --threads 96 --group 32 --arg right=u32[96]=zeros --arg in=u32[64]=arange --arg n=3
// EXPECT right: 1 x 96
// RUN: --kernel runs_of_some --threads 96 --group 32 --arg right=u32[96]=zeros --arg in=u32[64]=arange --arg n=40
// EXPECT right: 1 x 96
kernel void runs_of_some(device uint* right, device const uint* in, constant uint& n,
                         uint t [[thread_position_in_threadgroup]], uint i [[thread_position_in_grid]]) {
  if (t % 10 == 1) {
    right[i] = 1;
    return;
  }
  uint sum = 0, expected = 0;
  for (uint k = t / 4; k < n; k += 8) sum += in[k];
  for (uint k = 0; k < n; ++k) expected += k >= t / 4 && k % 8 == t / 4 % 8 ? k : 0;
  right[i] = sum == expected;
}

// What uniform branches lead to is the same for lanes that have returned: rows begin where these would lie.
// RUN: --kernel joined_rows --threads 100 --group 50 --arg right=u32[100]=zeros --arg in=u32[256]=arange --arg n=20
// EXPECT right: 1 x 100
// RUN: --kernel joined_rows --threads 64 --group 32 --arg right=u32[64]=zeros --arg in=u32[256]=arange --arg n=0
// EXPECT right: 1 x 64
kernel void joined_rows(device uint* right, device const uint* in, constant uint& n,
                        uint t [[thread_position_in_threadgroup]], uint i [[thread_position_in_grid]]) {
  if (t % 10 == 1) {
    right[i] = 1;
    return;
  }
  device const uint* row = in + t;
  device const uint* pairs = in + t / 2;
  if (n > 4) {
    row += n;
    for (uint k = 0; k < n; k += 7) pairs += k;
  }
  right[i] = *row == t + (n > 4 ? n : 0) && *pairs == t / 2 + (n > 4 ? 21 : 0);
}

// Lanes that are odd return out of two loops; which of the outer one's two ends the others come through, all know.
// RUN: --kernel ends_of_a_loop --threads 96 --group 32 --arg right=u32[96]=zeros --arg again=0
// EXPECT right: 1 x 96
// RUN: --kernel ends_of_a_loop --threads 96 --group 32 --arg right=u32[96]=zeros --arg again=1
// EXPECT right: 1 x 96
kernel void ends_of_a_loop(device uint* right, constant int& again, uint i [[thread_position_in_grid]]) {
  uint sum = i, masks = 1;
  int turn = 0;
  do {
    for (int k = 0; k < 3 && simd_any(true); ++k) {
      uint flipped;
      if (i % 2 == 0) {
        flipped = 1;
      } else {
        right[i] = 1;
        return;
      }
      masks = masks * 31 + uint(ulong(simd_active_threads_mask()));
      sum ^= flipped;
    }
  } while (++turn < 7 && again != 0);
  right[i] = sum == (i ^ 1);
}
