// Functions that stay calls, run by all lanes of a simdgroup together: what they are handed and give back, whether it is
// the same for all lanes, a row or anything, and whoever takes part.
#include <metal_stdlib>
using namespace metal;

#define NOINLINE __attribute__((noinline))

NOINLINE uint scale(uint value, uint factor) { return value * factor + 1; }

// One parameter is the same for all lanes in one call, and not in the other.
// RUN: --kernel uniform_and_not --threads 40 --group 40 --arg x=u32[40]=arange
// ENGINE: simd
// EXPECT x: 0 2 6 12 20 30 42 56 72 90 110 132 156 182 210 240 272 306 342 380 420 462 506 552 600 650 702 756 812 870 930 992 1056 1122 1190 1260 1332 1406 1482 1560
kernel void uniform_and_not(device uint* x, uint i [[thread_position_in_grid]]) {
  x[i] = scale(scale(x[i], 1) - 1, i) - 1 + i;
}

NOINLINE float row_sum(device const float* row, uint count, uint step) {
  float sum = 0;
  for (uint k = 0; k < count; ++k) sum += row[k * step];
  return sum;
}

// Addresses that lie side by side, apart, and anywhere, of one buffer and of two.
// RUN: --kernel rows --threads 4 --group 4 --arg x=f32[16]=arange --arg y=f32[16]=ones --arg out=f32[4,4]=zeros
// ENGINE: simd
// EXPECT out: 24 6 6 4 28 22 34 54 32 38 10 4 36 54 38 38
kernel void rows(device const float* x, device const float* y, device float* out, uint i [[thread_position_in_grid]]) {
  out[4 * i] = row_sum(x + i, 4, 4);
  out[4 * i + 1] = row_sum(x + 4 * i, 4, 1);
  out[4 * i + 2] = row_sum(x + i * 7 % 13, 4, 1);
  out[4 * i + 3] = row_sum(i % 2 == 0 ? y : x + (i == 1 ? 12 : 8), 4, 1);
}

// RUN: --kernel beyond --threads 64 --group 64 --arg x=f32[64]=arange --arg out=f32[64]=zeros
// ERROR out_of_bounds: kernel 'beyond' reads outside of argument 'x' (buffer 0): element 64 of 64
// RUN: --kernel beyond --threads 64 --group 64 --arg x=f32[67]=arange --arg out=f32[64]=zeros
// ENGINE: simd
// EXPECT out: 6 0 x 63
kernel void beyond(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  const float sum = row_sum(x + i, 4, 1);
  if (i == 0) out[i] = sum;
}

// Lanes that are outside, and take no part.
// RUN: --kernel before --threads 64 --group 64 --arg x=u32[64]=arange --arg y=f32[16]=ones --arg out=f32[64]=zeros
// ENGINE: simd
// EXPECT out: 4 x 13 0 x 51
// RUN: --kernel before --threads 64 --group 64 --arg x=u32[64]=zeros --arg y=f32[3]=ones --arg out=f32[64]=zeros
// ERROR out_of_bounds: kernel 'before' reads outside of argument 'y' (buffer 1): element 3 of 3
kernel void before(device const uint* x, device const float* y, device float* out, uint i [[thread_position_in_grid]]) {
  if (x[i] < 13) out[i] = row_sum(y + x[i], 4, 1);
}

struct Mixed {
  half3 h;
  bool flag;
  ulong wide;
  bfloat narrow[2];
};
NOINLINE Mixed mix(Mixed m, bool turn, char step) {
  m.h = turn ? m.h.zxy : m.h;
  m.flag = m.flag != turn;
  m.wide += step;
  m.narrow[1] += bfloat(m.h.x);
  return m;
}

// RUN: --kernel structures --threads 33 --group 33 --arg out=u64[33,4]=zeros
// ENGINE: simd
// EXPECT out: 3 1 4294967295 3 1 0 4294967296 2 3 0 4294967297 5 1 1 4294967298 4 3 0 4294967299 7 0 x 112
kernel void structures(device ulong* out, uint i [[thread_position_in_grid]]) {
  if (i >= 5 && i != 32) return;
  Mixed m = {half3(1, 2, 3), i >= 2, (1ul << 32) + i, {1, bfloat(i)}};
  m = mix(m, i % 2 == 0, -1);
  if (i == 32) return;
  out[4 * i] = m.h.x;
  out[4 * i + 1] = m.flag;
  out[4 * i + 2] = m.wide;
  out[4 * i + 3] = m.narrow[1];
}

NOINLINE void exchange(thread uint& a, thread uint& b, threadgroup uint* shared, uint lane) {
  shared[lane] = a;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  a = b;
  b = shared[lane ^ 1];
}

// Variables of the caller, which may be one; memory of the threadgroup; a barrier of the simdgroup.
// RUN: --kernel references --threads 32 --group 32 --arg out=u32[4,3]=zeros
// ENGINE: simd
// EXPECT out: 10 1 1 11 0 0 12 3 3 13 2 2
kernel void references(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup uint shared[32];
  uint a = i, b = i + 10, c = i;
  exchange(a, b, shared, i);
  exchange(c, c, shared, i);
  if (i < 4) {
    out[3 * i] = a;
    out[3 * i + 1] = b;
    out[3 * i + 2] = c;
  }
}

NOINLINE uint votes(uint value) {
  if (value % 3 == 0) return simd_sum(1u) * 100;
  uint turns = 0;
  while (turns < value % 5) ++turns;
  return simd_sum(1u) + turns * 1000;
}

// Lanes that go different ways inside, and come together again, among those that came.
// RUN: --kernel together --threads 32 --group 32 --arg out=u32[32]=zeros
// ENGINE: simd
// EXPECT out: 600 1010 2010 600 4010 10 600 2010 3010 600 10 1010 600 3010 4010 600 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
kernel void together(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i < 16) out[i] = votes(i);
}

NOINLINE uint collatz(uint n) { return n == 1 ? 0 : 1 + collatz(n % 2 == 0 ? n / 2 : 3 * n + 1); }

// Each lane calls itself as deep as it likes.
// RUN: --kernel depths --threads 12 --group 12 --arg x=u32[12]=1,2,3,4,5,6,7,8,9,10,11,27
// ENGINE: simd
// EXPECT x: 0 1 7 2 5 8 16 3 19 6 14 111
kernel void depths(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = collatz(x[i]); }

NOINLINE float through(device const float* const thread* rows, uint k) { return rows[k][1]; }

// Addresses that a thread keeps in an array of its own.
// RUN: --kernel kept --threads 4 --group 4 --arg x=f32[8]=arange --arg y=f32[8]=ones --arg out=f32[4]=zeros
// ENGINE: simd
// EXPECT out: 1 1 3 1
// RUN: --kernel kept --threads 4 --group 4 --arg x=f32[8]=arange --arg y=f32[1]=ones --arg out=f32[4]=zeros
// ERROR out_of_bounds: kernel 'kept' reads outside of argument 'y' (buffer 1): element 1 of 1
kernel void kept(device const float* x, device const float* y, device float* out, uint i [[thread_position_in_grid]]) {
  device const float* rows[2] = {x + i, y};
  out[i] = through(rows, i % 2);
}

// What a function writes where its caller says: all of it, some of it, through two names, and further on.
NOINLINE void swap_and_add(thread float& a, thread float& b, uint more) {
  const float old = a;
  a = b + more;
  b = old;
}
NOINLINE bool perhaps(thread float* to, float value) {
  if (value > 20) *to = value;
  return value > 10;
}
NOINLINE void add_first(thread float* a, thread const float* b, uint i) {
  a[0] += b[0] * 2;
  a[1] = a[0] + b[0];
  if (i % 2 == 0) swap_and_add(a[0], a[1], i);
}
// RUN: --kernel written --threads 33 --group 33 --arg x=f32[33]=arange --arg out=f32[33,4]=zeros
// ENGINE: simd
// EXPECT out: 1 3 2 3 3 3 6 3 5 9 5 2 4 11 15 3 6 1 4 3 8 5 7 5 7 33 20 3 9 3 6 3 11 15 5 8 10 9 2 3 12 16 3 3 14 5 7 111 13 63 38 103 15 3 6 103 17 1 2 114 16 47 63 103 18 22 3 103 20 5 7 117 19 93 56 103 21 1 19 103 23 27 5 120 22 65 87 103 24 28 3 103 26 5 7 123 24 24 2 103 27 75 150 103 29 105 53 126 28 83 111 127 28 34 3 103 32 29 2 129 31 153 92 103 33 3 6 131 32 39 5 132
kernel void written(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  float values[4] = {x[i], 1, 2, 3};
  swap_and_add(values[0], values[1 + i % 3], i);
  if (perhaps(values + i % 4, x[i])) values[3] += 100;
  if (i % 5 != 4) add_first(values + 1, values + i % 3, i);
  for (uint k = 0; k < 4; ++k) out[4 * i + k] = values[k];
}

NOINLINE void change_some(thread uint* words, uint way) {
  switch (way) {
    case 0: words[0] += words[3]; break;
    case 1:
      words[1] = words[2] * 3;
      words[0] = 7;
      break;
    case 2: words[3] = words[0] + words[1]; break;
    default: break;
  }
}

// A function writes to its caller's variable on some ways.
// RUN: --kernel changed_in_part --threads 24 --group 24 --arg out=u32[24]=zeros
// ENGINE: simd
// EXPECT out: 2001303 3009407 4003502 5004603 6005704 7006813 8024907 9009507 10010108 11011209 12012323 13040407
// EXPECT+: 14015512 15015613 16016714 17017833 18055907 19021517 20021118 21022219 22023343 23071407 24027522 25026623
kernel void changed_in_part(device uint* out, uint i [[thread_position_in_grid]]) {
  uint words[4] = {i, i + 1, i + 2, i + 3};
  change_some(words, i % 5);
  out[i] = words[0] + 1000 * words[1] + 1000000 * words[2] + 100 * words[3];
}

constant uint squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
struct Sums {
  uint sums[4];
  uint count;
  constant uint* table;
};

NOINLINE void mix(thread uint* a, thread uint* b, constant uint* table, uint way) {
  a[0] += table[b[1] % 8];
  if (way == 1) b[0] = a[1];
  if (way == 2) a[1] = b[0] + table[way];
}
NOINLINE void take(thread Sums* to, thread uint* a, thread uint* b, uint way) {
  if (way == 0) return;
  mix(to->sums, to->sums + 2, to->table, way);
  mix(a, b, to->table, way);
  to->sums[1] += a[0] + b[1];
  to->count += 1;
}

// Parts of one variable are handed on, and a table that all calls name, through a structure.
// RUN: --kernel parts --threads 6 --group 6 --arg out=u32[6,9]=zeros
// ENGINE: simd
// EXPECT out: 9 1 1 3 3 5 7 0 2001 49 54 19 4 1 5 30 1 1103 27 17 4 5 7 11 7 2 1021
// EXPECT+: 75 54 17 6 3 5 32 3 2042 102 41 5 7 19 5 5 4 1202 5 71 44 8 5 11 16 5 1052
kernel void parts(device uint* out, uint i [[thread_position_in_grid]]) {
  Sums sums = {{i, i + 1, i + 2, i + 3}, 0, squares};
  uint words[4] = {3, 5, 7, i}, others[2] = {i, 2}, more[2] = {1, 3 * i};
  take(&sums, words, words + 2, i % 3);
  take(&sums, others, more, (i + 1) % 3);
  take(&sums, words + 2, words, i % 2);
  device uint* row = out + 9 * i;
  for (uint k = 0; k < 4; ++k) row[k] = sums.sums[k];
  for (uint k = 0; k < 4; ++k) row[4 + k] = words[k];
  row[8] = sums.count + 10 * others[0] + 1000 * more[0];
}
