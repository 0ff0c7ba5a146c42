// Accesses outside of a thread's own variables where these are ignored: they read zero, write nothing, and the rest goes
// on. Indices of other threads lie inside.
// COMPILE: --thread-overruns ignore
#include <metal_stdlib>
using namespace metal;

// A loop that begins in front of the array for threads behind the end, as in layer norms of short rows.
// RUN: --kernel fill --threads 4 --group 4 --arg x=f32[6]=ones --arg size=i32[1]=6 --arg out=f32[4]=zeros
// EXPECT out: 4 2 0 0
kernel void fill(device const float* x, constant int& size, device float* out, uint lane [[thread_position_in_grid]]) {
  float own[4];
  const int first = int(lane) * 4, there = size - first;
  for (int i = 0; i < 4 && i < there; ++i) own[i] = x[first + i];
  for (int i = there; i < 4; ++i) own[i] = 0.0f;
  float sum = 0.0f;
  for (int i = 0; i < 4; ++i) sum += own[i];
  out[lane] = sum;
}

// RUN: --kernel read --threads 40 --group 40 --arg at=i32[40]=arange --arg out=f32[40]=zeros
// EXPECT out: 10 9 8 7 6 5 4 3 2 1 0 x 30
kernel void read(device const int* at, device float* out, uint i [[thread_position_in_grid]]) {
  const float table[10] = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  out[i] = table[at[i]];
}

// What is written outside touches no other variable.
// RUN: --kernel write --threads 8 --group 8 --arg at=i32[8]=-3,-2,-1,0,1,2,3,1000000 --arg out=i32[8]=zeros
// EXPECT out: 505 505 505 605 515 506 505 505
kernel void write(device const int* at, device int* out, uint i [[thread_position_in_grid]]) {
  int before[3] = {1, 1, 1}, own[3] = {0, 0, 0}, behind[3] = {1, 1, 1};
  own[at[i]] = 1;
  const int around = before[0] + before[i % 3] + behind[0] + behind[i % 3] + behind[(i + 1) % 3];
  out[i] = own[0] * 100 + own[1] * 10 + own[2] + around + 500;
}

// A vector of which elements lie outside.
// RUN: --kernel vectors --threads 4 --group 4 --arg at=u32[4]=0,1,2,3 --arg out=f32[4]=zeros
// EXPECT out: 3 5 7 4
kernel void vectors(device const uint* at, device float* out, uint i [[thread_position_in_grid]]) {
  float4 own = {1, 2, 3, 4};
  thread float* elements = (thread float*)&own + at[i];
  const packed_float3 some = *(thread packed_float3*)elements;
  out[i] = some.x + some.y;
}

// Other memory's accesses still fail.
// RUN: --kernel other --threads 4 --group 4 --arg at=i32[4]=9,9,9,9 --arg out=f32[4]=zeros
// ERROR out_of_bounds: 'out'
kernel void other(device const int* at, device float* out, uint i [[thread_position_in_grid]]) {
  float own[2] = {1, 2};
  own[at[i]] = 3;
  out[at[i]] = own[i & 1];
}
