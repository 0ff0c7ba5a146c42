// Which engine of device cpu takes a kernel, with and without what costs it speed.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel taken --threads 64 --group 64 --arg x=f32[64]=ones
// ENGINE: simd
// EXPECT x: 2 x 64
kernel void taken(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }

// RUN: --kernel lanes_one_by_one --threads 64 --group 64 --arg table=u8[64]=arange --arg x=u32[64]=zeros
// ENGINE: simd
// EXPECT x: 0 x 32 2 x 16 0 x 16
kernel void lanes_one_by_one(device const uchar* table, device atomic_uint* x, uint i [[thread_position_in_grid]]) {
  const uint half_place = table[(i * 7) & 63] / 2;
  if (i & 1) atomic_fetch_add_explicit(&x[32 + half_place / 2], 1u, memory_order_relaxed);
}

// Whose way depends on what a lane finds in memory: each has its own barriers to come to.
// RUN: --kernel left --threads 64 --group 64 --arg x=u32[64]=zeros
// ENGINE: reference
// EXPECT x: 2 x 64
kernel void left(device uint* x, uint i [[thread_position_in_grid]]) {
  if (x[i] == 0) {
    threadgroup_barrier(mem_flags::mem_device);
    x[i] += 1;
    threadgroup_barrier(mem_flags::mem_device);
    x[i] += 1;
  } else {
    threadgroup_barrier(mem_flags::mem_device);
    threadgroup_barrier(mem_flags::mem_device);
  }
}
