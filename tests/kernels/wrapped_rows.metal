// Sums of 32 bits that wrap around between the threads of a simdgroup, and what is extended to 64 bits of them.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel widened --threads 64 --group 32 --arg out=u64[64]=zeros --arg n=3
// EXPECT out: 3 2 1 0 4294967295 4294967294 .. 4294967236
// ENGINE: simd
// RUN: --kernel widened --threads 64 --group 64 --arg out=u64[64]=zeros --arg n=40
// EXPECT out: 40 39 .. 0 4294967295 4294967294 .. 4294967273
// RUN: --kernel widened --threads 7 --group 7 --arg out=u64[7]=zeros --arg n=3
// EXPECT out: 3 2 1 0 4294967295 4294967294 4294967293
kernel void widened(device ulong* out, constant uint& n, uint i [[thread_position_in_grid]]) { out[i] = ulong(n - i); }

// RUN: --kernel widened_up --threads 32 --group 32 --arg out=u64[32]=zeros --arg n=4294967293
// EXPECT out: 4294967293 4294967294 4294967295 0 1 .. 28
// ENGINE: simd
kernel void widened_up(device ulong* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  out[i] = ulong(n + i);
}

// RUN: --kernel widened_signed --threads 32 --group 32 --arg out=i64[32]=zeros
// EXPECT out: 2147483644 2147483645 2147483646 2147483647 -2147483648 -2147483647 .. -2147483621
// ENGINE: simd
kernel void widened_signed(device long* out, uint i [[thread_position_in_grid]]) { out[i] = long(int(0x7ffffffcu + i)); }

// High words of products, as Philox has them.
// RUN: --kernel high --threads 32 --group 32 --arg out=u32[32]=zeros --arg n=3
// EXPECT out: 2 1 0 0 3528531794 3528531793 3528531792 3528531791 3528531790 3528531790 3528531789
// EXPECT+: 3528531788 3528531787 3528531786 3528531785 3528531785 3528531784 3528531783 3528531782 3528531781 3528531781
// EXPECT+: 3528531780 3528531779 3528531778 3528531777 3528531776 3528531776 3528531775 3528531774 3528531773 3528531772 3528531771
// ENGINE: simd
kernel void high(device uint* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  out[i] = mulhi(0xD2511F53u, n - i);
}

// In place: the low word, the high word.
// RUN: --kernel congruential --threads 32 --group 32 --arg wrong=u32[32]=ones --arg seed=1
// EXPECT wrong: 0 x 32
// ENGINE: simd
kernel void congruential(device uint* wrong, constant uint& seed, uint i [[thread_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]]) {
  const ulong made = ulong(seed - i) * 6364136223846793005ul;
  // 64 bits by 16: nothing is widened from 32.
  ulong expected = 0;
  for (uint piece = 0; piece < 2; ++piece) {
    const ushort digit = ushort((seed - i) >> (16 * piece));
    for (uint bit = 0; bit < 16; ++bit) {
      if ((digit >> bit) & 1) expected += 6364136223846793005ul << (16 * piece + bit);
    }
  }
  wrong[i] = made != expected;
}

// Behind further arithmetic, in loops, through functions.
// RUN: --kernel carried --threads 32 --group 32 --arg out=u64[32]=zeros --arg n=3 --arg turns=4
// EXPECT out: 412 411 410 409 4294967704 4294967703 .. 4294967677
// ENGINE: simd
kernel void carried(device ulong* out, constant uint& n, constant uint& turns, uint i [[thread_position_in_grid]]) {
  ulong sum = ulong(n - i) + 9;
  for (uint turn = 0; turn < turns; ++turn) sum += 100;
  out[i] = sum;
}

// RUN: --kernel compared --threads 32 --group 32 --arg out=u32[32]=zeros --arg n=3
// EXPECT out: 0 x 4 1 x 28
// ENGINE: simd
kernel void compared(device uint* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  out[i] = ulong(n - i) > 1000ul;
}

// RUN: --kernel divided --threads 32 --group 32 --arg out=u64[32]=zeros --arg n=3
// EXPECT out: 0 x 4 429496729 x 6 429496728 x 10 429496727 x 10 429496726 x 2
// ENGINE: simd
kernel void divided(device ulong* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  out[i] = ulong(n - i) / 10;
}

// Differences of two that wrap at different threads.
// RUN: --kernel difference --threads 32 --group 32 --arg out=i64[32]=zeros --arg a=4294967290 --arg b=4294967280
// EXPECT out: 10 x 6 -4294967286 x 10 10 x 16
// ENGINE: simd
kernel void difference(device long* out, constant uint& a, constant uint& b, uint i [[thread_position_in_grid]]) {
  out[i] = long(ulong(a + i) - ulong(b + i));
}

// Threads in front of where the index wraps take no part, at either end.
// RUN: --kernel neighbours --threads 64 --group 64 --arg out=u32[64]=zeros --arg in=u32[64]=arange --arg n=64
// EXPECT out: 1 2 4 .. 124 62
// ENGINE: simd
kernel void neighbours(device uint* out, device const uint* in, constant uint& n, uint i [[thread_position_in_grid]]) {
  uint sum = 0;
  if (i > 0) sum += in[i - 1];
  if (i + 1 < n) sum += in[i + 1];
  out[i] = sum;
}

// RUN: --kernel backwards --threads 64 --group 64 --arg out=u32[64]=ones --arg in=u32[64]=arange --arg n=40
// EXPECT out: 40 39 .. 0 1 x 23
// ENGINE: simd
kernel void backwards(device uint* out, device const uint* in, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i <= n) out[i] = in[n - i];
}

// The same in two dimensions, with rows of half a simdgroup and of a quarter.
// RUN: --kernel above --threads 16,16 --group 16,16 --arg out=u32[256]=ones --arg in=u32[256]=arange --arg width=16
// EXPECT out: 1 x 16 1 0 1 .. 14 1 16 17 .. 30 1 32 33 .. 46 1 48 49 .. 62 1 64 65 .. 78 1 80 81 .. 94 1 96 97 .. 110
// EXPECT+: 1 112 113 .. 126 1 128 129 .. 142 1 144 145 .. 158 1 160 161 .. 174 1 176 177 .. 190 1 192 193 .. 206
// EXPECT+: 1 208 209 .. 222 1 224 225 .. 238
// ENGINE: simd
// RUN: --kernel above --threads 8,4 --group 8,4 --arg out=u32[32]=ones --arg in=u32[32]=arange --arg width=8
// EXPECT out: 1 x 8 1 0 1 .. 6 1 8 9 .. 14 1 16 17 .. 22
kernel void above(device uint* out, device const uint* in, constant uint& width, uint2 at [[thread_position_in_grid]]) {
  if (at.x > 0 && at.y > 0) out[at.y * width + at.x] = in[(at.y - 1) * width + at.x - 1];
}

struct Pair {
  uint first, second;
};

// Members lie behind the index's place.
// RUN: --kernel members --threads 64 --group 32 --arg out=u32[64]=ones --arg in=u32[128]=arange
// EXPECT out: 1 1 3 .. 125
// ENGINE: simd
kernel void members(device uint* out, device const Pair* in, uint i [[thread_position_in_grid]]) {
  if (i > 0) out[i] = in[i - 1].second;
}

// What wraps is outside, whatever is added to it with 64 bits.
// RUN: --kernel outside --threads 32 --group 32 --arg out=u32[32]=ones --arg in=u32[256]=arange --arg n=4
// ERROR out_of_bounds: kernel 'outside' reads outside of argument 'in' (buffer 1): element 4294967392 of 256
// ERROR thread (0, 0, 0)
kernel void outside(device uint* out, device const uint* in, constant uint& n, uint i [[thread_position_in_grid]]) {
  out[i] = in[ulong(i - n) + 100];
}

// A pointer that goes on through a loop from where the index wraps.
// RUN: --kernel stepping --threads 64 --group 64 --arg out=u32[64]=zeros --arg in=u32[256]=ones --arg n=3
// EXPECT out: 0 x 5 4 x 59
// ENGINE: simd
kernel void stepping(device uint* out, device const uint* in, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i < 5) return;
  device const uint* at = in + (i - n) + 1;
  uint sum = 0;
  for (uint turn = 0; turn < 4; ++turn, at += 64 - n) sum += *at;
  out[i] = sum;
}

// Narrow numbers have no room for all bits of the lane.
// RUN: --kernel narrow --threads 32 --group 32 --arg out=u32[32]=zeros --arg in=u32[65536]=arange
// EXPECT out: (0 16384 32768 49152) x 8
// ENGINE: simd
kernel void narrow(device uint* out, device const uint* in, uint i [[thread_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]]) {
  out[i] = in[ushort(lane << 14)];
}

// RUN: --kernel narrow_signed --threads 32 --group 32 --arg out=i64[32]=zeros
// EXPECT out: (0 16384 -32768 -16384) x 8
// ENGINE: simd
kernel void narrow_signed(device long* out, uint i [[thread_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  out[i] = long(short(lane << 14));
}
