// Functions that stay calls: `noinline` ones, where threads meet in them too, and what they are handed.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

#define NOINLINE __attribute__((noinline))

struct Wide {
  uint words[9];
};

NOINLINE Wide add(Wide a, thread const Wide& b, uint carry) {
  for (uint i = 0; i < 9; ++i) {
    ulong sum = ulong(a.words[i]) + b.words[i] + carry;
    a.words[i] = uint(sum);
    carry = uint(sum >> 32);
  }
  return a;
}

// Structures by value and as results; the caller's own stay as they are.
// RUN: --kernel by_value --threads 2 --group 2 --arg out=u32[2,4]=zeros
// EXPECT out: 0 0 4294967295 1 2 1 4294967295 1
kernel void by_value(device uint* out, uint i [[thread_position_in_grid]]) {
  Wide a = {}, b = {};
  for (uint k = 0; k < 8; ++k) a.words[k] = 0xffffffff;
  b.words[0] = i == 0 ? 1 : 3;
  Wide c = add(a, b, 0), d = add(c, c, i == 0 ? 0 : 1 - c.words[0] / 2);
  out[4 * i] = c.words[0];
  out[4 * i + 1] = d.words[0] == 0 ? 0 : d.words[0] / 4;
  out[4 * i + 2] = a.words[0];
  out[4 * i + 3] = c.words[8];
}

NOINLINE void rotate(threadgroup uint* shared, uint i, uint n, thread uint* last) {
  uint mine = shared[(i + 1) % n];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  shared[i] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  *last += mine;
}

// Barriers inside, over several simdgroups, from several places; a pointer to the caller's variable.
// RUN: --kernel barriers --threads 100 --group 100 --arg out=u32[100]=zeros --arg sums=u32[100]=zeros
// EXPECT out: 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 0 1 2 3
// EXPECT sums: 10 14 18 22 26 30 34 38 42 46 50 54 58 62 66 70 74 78 82 86 90 94 98 102 106 110 114 118 122 126 130 134 138 142 146 150 154 158 162 166 170 174 178 182 186 190 194 198 202 206 210 214 218 222 226 230 234 238 242 246 250 254 258 262 266 270 274 278 282 286 290 294 298 302 306 310 314 318 322 326 330 334 338 342 346 350 354 358 362 366 370 374 378 382 386 390 294 198 102 6
kernel void barriers(device uint* out, device uint* sums, uint i [[thread_index_in_threadgroup]],
                     uint n [[threads_per_threadgroup]]) {
  threadgroup uint shared[128];
  shared[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint sum[2] = {};
  rotate(shared, i, n, &sum[0]);
  for (uint k = 0; k < 2; ++k) rotate(shared, i, n, &sum[1]);
  rotate(shared, i, n, &sum[1]);
  out[i] = shared[i];
  sums[i] = sum[0] + sum[1];
}

NOINLINE uint count_active(uint weight) { return simd_sum(weight); }

// Lanes that were inside of a call wait for the others behind it.
// RUN: --kernel join_again --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: 16 32 16 32 16 32 16 32 16 32 16 32 16 32 16 32 16 32 16 32 16 32 16 32 16 32 16 32 16 32 16 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32 0 32
kernel void join_again(device uint* out, uint i [[thread_position_in_grid]]) {
  uint inside = 0;
  if (i < 16) inside = count_active(1);
  out[2 * i] = inside;
  out[2 * i + 1] = simd_sum(1u);
}

// Two calls of one function are two places.
// RUN: --kernel two_places --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240 256 240
kernel void two_places(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i % 2 == 1) {
    out[i] = count_active(i - 1);
  } else {
    out[i] = count_active(i + 1);
  }
}

NOINLINE uint nested(uint i, uint weight) {
  uint inner = i % 4 == 0 ? count_active(weight) : 0;
  return inner + 100 * count_active(weight);
}

// RUN: --kernel nested_calls --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 13208 3200 3200 3200 13208 3200 3200 3200 13208 3200 3200 3200 13208 3200 3200 3200 13208 3200 3200 3200 13208 3200 3200 3200 13208 3200 3200 3200 13208 3200 3200 3200
kernel void nested_calls(device uint* out, uint i [[thread_position_in_grid]]) {
  uint sum = nested(i, 1);
  if (i % 4 == 0) sum += 10000 * count_active(1) / 8;
  out[i] = sum;
}

uint descend(uint depth) { return depth == 0 ? 0 : 100 * simd_sum(1u) + descend(depth - 1); }

// At each depth, exactly the lanes that go that deep; all of them behind.
// RUN: --kernel depths --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 32 2432 4032 4832 32 2432 4032 4832 32 2432 4032 4832 32 2432 4032 4832 32 2432 4032 4832 32 2432 4032 4832 32 2432 4032 4832 32 2432 4032 4832
kernel void depths(device uint* out, uint i [[thread_position_in_grid]]) {
  uint sum = descend(i % 4);
  out[i] = sum + simd_sum(1u);
}

constant uint scale [[function_constant(0)]];
uint3 place [[thread_position_in_grid]];
device float* weights [[buffer(2)]];

NOINLINE float weight_here(uint step) { return weights[place.x] * float(step + scale); }
float weights_below(uint n) { return n == 0 ? 0.0f : weights[n - 1] + weights_below(n - 1); }
NOINLINE float relay(uint step) { return weight_here(step) + weights_below(place.x); }

// Arguments at program scope, in functions that stay calls and in recursive ones.
// RUN: --kernel program_scope --threads 4 --group 2 --arg out=f32[4]=zeros --arg weights=f32[4]=1,2,3,4 --constant 0=10
// EXPECT out: 21 43 66 90
kernel void program_scope(device float* out) { out[place.x] = relay(0) + weight_here(1); }

NOINLINE void multiply(threadgroup float* a, device float* c, uint k) {
  simdgroup_float8x8 x, y, z = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  simdgroup_load(x, a, 8);
  simdgroup_load(y, a, 8);
  simdgroup_multiply_accumulate(z, x, y, z);
  simdgroup_store(z, c + 64 * k, 8);
}

// Matrices of simdgroups, which take part of their places from the lane's number.
// RUN: --kernel matrices --threads 32 --group 32 --arg c=f32[2,64]=zeros
// EXPECT c: 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0 0 4
kernel void matrices(device float* c, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float a[64];
  a[i] = i % 9 == 0 ? 2 : 0;
  a[i + 32] = (i + 32) % 9 == 0 ? 2 : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  multiply(a, c, 0);
  multiply(a, c, 1);
}

NOINLINE uint lane_of_first(uint i) { return simd_is_first() ? 100 + i : i; }

// RUN: --kernel first_lane --threads 40 --group 40 --arg out=u32[40]=zeros
// EXPECT out: 0 1 102 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 132 33 34 35 36 37 38 39
kernel void first_lane(device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = i < 2 ? i : lane_of_first(i);
}

NOINLINE int read_at(device const int* x, uint i) {
  return x[i];
}

// An address that the source made up: a GPU's context ends with it.
// RUN: --kernel crash --threads 1 --group 1 --arg out=i32[1]=zeros --arg offset=u64[1]=1099511627776000
// EXCEPT: cuda
// ERROR kernel_crashed: calls.metal:148
kernel void crash(device int* out, constant ulong& offset) { out[0] = read_at((device int*)offset, 1); }
