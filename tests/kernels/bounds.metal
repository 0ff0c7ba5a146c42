// Accesses outside of what is bound, and outside of variables: not carried out, and told with line, element and thread.
#include <metal_stdlib>
using namespace metal;

// A grid in whole threadgroups, without a check of the index.
// RUN: --kernel rounded_up --threadgroups 4 --group 32 --arg x=f32[100]=ones --arg y=f32[128]=ones
// ERROR out_of_bounds: kernel 'rounded_up' writes outside of argument 'x' (buffer 0): element 100 of 100 (bytes 400 to 403 of 400)
// ERROR out_of_bounds: bounds.metal:11, thread (100, 0, 0)
// RUN: --kernel rounded_up --threads 100 --group 32 --arg x=f32[100]=ones --arg y=f32[128]=ones
// EXPECT x: 2 x 100
kernel void rounded_up(device float* x, device const float* y, uint i [[thread_position_in_grid]]) { x[i] = y[i] + 1; }

// RUN: --kernel guarded --threadgroups 4 --group 32 --arg x=f32[100]=ones --arg size=100
// EXPECT x: 2 x 100
kernel void guarded(device float* x, constant uint& size, uint i [[thread_position_in_grid]]) {
  if (i < size) x[i] += 1;
}


// Neighbours that lie outside are not touched where the kernel asks first, in rows and in pieces of rows.
// RUN: --kernel neighbours --threads 100 --group 64 --arg x=f32[100]=arange --arg y=f32[100]=zeros
// EXPECT y: 1 2 4 .. 196 98
// RUN: --kernel neighbours --threads 5,4 --group 5,4 --arg x=f32[5]=arange --arg y=f32[5]=zeros
// EXPECT y: 1 2 4 6 3
kernel void neighbours(device const float* x, device float* y, uint2 at [[thread_position_in_grid]],
                       uint2 size [[threads_per_grid]]) {
  const uint i = at.x;
  float sum = 0;
  if (i > 0) sum += x[i - 1];
  if (i + 1 < size.x) sum += x[i + 1];
  y[i] = sum;
}

// RUN: --kernel backwards --threads 64 --group 32 --arg x=f32[64]=arange --arg y=f32[64]=zeros --arg last=63
// EXPECT y: 63 62 .. 0
// RUN: --kernel backwards --threads 64 --group 32 --arg x=f32[64]=arange --arg y=f32[64]=zeros --arg last=62
// ERROR out_of_bounds: kernel 'backwards' reads outside of argument 'x' (buffer 0): element -1 of 64 (bytes -4 to -1 of 256)
// ERROR out_of_bounds: thread (63, 0, 0)
kernel void backwards(device const float* x, device float* y, constant int& last, uint i [[thread_position_in_grid]]) {
  y[i] = x[last - int(i)];
}

// Of several accesses that are checked at once the one outside is named.
// RUN: --kernel together --threads 16 --group 16 --arg x=f32[64]=ones --arg y=f32[16]=zeros
// EXPECT y: 4 x 16
// RUN: --kernel together --threads 16 --group 16 --arg x=f32[62]=ones --arg y=f32[16]=zeros
// ERROR out_of_bounds: reads outside of argument 'x' (buffer 0): element 6
kernel void together(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[4 * i] + x[4 * i + 1] +
         x[4 * i + 2] +
         x[4 * i + 3];
}

// RUN: --kernel anywhere --threads 64 --group 64 --arg x=f32[8]=arange --arg indices=u32[64]=zeros --arg y=f32[64]=zeros
// EXPECT y: 0 x 64
// RUN: --kernel anywhere --threads 10 --group 10 --arg x=f32[8]=arange --arg indices=u32[10]=0,1,2,3,4,5,6,7,8,7 --arg y=f32[10]=zeros
// ERROR out_of_bounds: kernel 'anywhere' reads outside of argument 'x' (buffer 0): element 8 of 8 (bytes 32 to 35 of 32)
// ERROR out_of_bounds: thread (8, 0, 0)
kernel void anywhere(device const float* x, device const uint* indices, device float* y,
                     uint i [[thread_position_in_grid]]) {
  y[i] = x[indices[i]];
}

// Which of two buffers it is differs from thread to thread.
// RUN: --kernel either --threads 8 --group 8 --arg x=f32[8]=ones --arg y=f32[4]=zeros --arg out=f32[8]=zeros
// ERROR out_of_bounds: kernel 'either' reads outside of argument 'y' (buffer 1): element 5 of 4
// ERROR out_of_bounds: thread (5, 0, 0)
// RUN: --kernel either --threads 8 --group 8 --arg x=f32[8]=ones --arg y=f32[8]=zeros --arg out=f32[8]=zeros
// EXPECT out: 1 0 1 0 1 0 1 0
kernel void either(device const float* x, device const float* y, device float* out, uint i [[thread_position_in_grid]]) {
  device const float* chosen = i % 2 ? y : x;
  out[i] = chosen[i];
}

// A pointer that moves.
// RUN: --kernel moving --threads 4 --group 4 --arg x=f32[40]=ones --arg y=f32[4]=zeros --arg steps=10
// EXPECT y: 10 x 4
// RUN: --kernel moving --threads 4 --group 4 --arg x=f32[40]=ones --arg y=f32[4]=zeros --arg steps=11
// ERROR out_of_bounds: kernel 'moving' reads outside of argument 'x' (buffer 0): element 40 of 40 (bytes 160 to 163 of 160)
kernel void moving(device const float* x, device float* y, constant uint& steps, uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < steps; ++k, x += 4) sum += x[i];
  y[i] = sum;
}

// RUN: --kernel counted --threads 64 --group 64 --arg x=u32[32]=zeros --arg shift=1
// EXPECT x: 2 x 32
// RUN: --kernel counted --threads 64 --group 64 --arg x=u32[32]=zeros --arg shift=0
// ERROR out_of_bounds: kernel 'counted' changes outside of argument 'x' (buffer 0): element 32 of 32 (bytes 128 to 131 of 128)
kernel void counted(device atomic_uint* x, constant uint& shift, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&x[i >> shift], 1, memory_order_relaxed);
}

// RUN: --kernel tile --threads 64 --group 64 --arg x=f32[64]=zeros --arg further=0
// EXPECT x: 63 62 .. 0
// RUN: --kernel tile --threads 64 --group 64 --arg x=f32[64]=zeros --arg further=1
// ERROR out_of_bounds: kernel 'tile' reads outside of the threadgroup's variable 'own': element 64 of 64 (bytes 256 to 259 of 256)
// ERROR out_of_bounds: thread (0, 0, 0)
kernel void tile(device float* x, constant uint& further, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float own[64], other[64];
  own[i] = i;
  other[i] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = own[63 - i + further] + other[i];
}

// RUN: --kernel given --threads 64 --group 64 --arg x=f32[64]=zeros --threadgroup-memory 0=256 --threadgroup-memory 1=64
// EXPECT x: 1 x 64
// RUN: --kernel given --threads 64 --group 64 --arg x=f32[64]=zeros --threadgroup-memory 0=128 --threadgroup-memory 1=64
// ERROR out_of_bounds: kernel 'given' writes outside of argument 'own' (threadgroup 0): element 32 of 32 (bytes 128 to 131 of 128)
kernel void given(device float* x, threadgroup float* own [[threadgroup(0)]], threadgroup float* other [[threadgroup(1)]],
                  uint i [[thread_position_in_threadgroup]]) {
  own[i] = 1;
  other[i % 16] = 2;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = own[i];
}

constant float table[5] = {1, 2, 3, 4, 5};
// RUN: --kernel constants --threads 5 --group 5 --arg x=f32[6]=zeros
// EXPECT x: 1 2 3 4 5 0
// RUN: --kernel constants --threads 6 --group 6 --arg x=f32[6]=zeros
// ERROR out_of_bounds: kernel 'constants' reads outside of constant 'table': element 5 of 5 (bytes 20 to 23 of 20)
kernel void constants(device float* x, uint i [[thread_position_in_grid]]) { x[i] = table[i]; }

// What no thread does is no error.
// RUN: --kernel never --threads 64 --group 32 --arg x=f32[64]=ones --arg y=f32[1]=ones
// EXPECT x: 2 1 x 63
kernel void never(device float* x, device const float* y, uint i [[thread_position_in_grid]]) {
  if (i == 0) x[i] += y[i];
  if (i > 64) x[i * 1000] = 5;
  for (uint k = i; k < 1; ++k) x[k + 63 * k] += 0;
}

// Two rows of the lanes that take part, at one index; both are looked at closer.
// RUN: --kernel rows --threads 64 --group 64 --arg x=u32[64]=ones --arg y=u32[16]=zeros
// EXPECT y: 0 64 0 x 14
// RUN: --kernel rows --threads 64 --group 64 --arg x=u32[64]=ones --arg y=u32[15]=zeros
// ERROR out_of_bounds: kernel 'rows' writes outside of argument 'y' (buffer 1): element 15 of 15 (bytes 60 to 63 of 60)
kernel void rows(device const uint* x, device uint* y, uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint counts[16];
  if (i < 16) atomic_store_explicit(&counts[i], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&counts[x[i] % 16], 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 16) y[i] = atomic_load_explicit(&counts[i], memory_order_relaxed);
}
