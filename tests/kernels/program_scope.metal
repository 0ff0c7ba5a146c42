// Variables at program scope that stand for arguments (MSL spec §5.2, §5.9): kernels take those that they use.
#include <metal_stdlib>
using namespace metal;

uint3 position [[thread_position_in_grid]];
const uint lane [[thread_index_in_simdgroup]];
uint size [[threads_per_grid]];
device int* constant shared_values [[buffer(3)]];

struct Scale {
  float factor;
};
constant Scale& scale [[buffer(1)]];
threadgroup float* scratch [[threadgroup(0)]];

static uint twice_position() { return position.x * 2; }

// RUN: --kernel through_function --threads 4 --group 2 --arg x=u32[4]=zeros
// EXPECT x: 0 2 4 6
kernel void through_function(device uint* x [[buffer(0)]]) { x[position.x] = twice_position(); }

// RUN: --kernel beside_argument --threads 3 --group 3 --arg x=u32[3]=zeros
// EXPECT x: 3 14 25
kernel void beside_argument(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = 10 * i + lane + size; }

// Around a barrier each thread keeps its own.
// RUN: --kernel around_barrier --threads 4 --group 4 --arg x=u32[4]=zeros
// EXPECT x: 3 2 1 0
kernel void around_barrier(device uint* x) {
  threadgroup uint values[4];
  values[position.x] = position.x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[position.x] = values[3 - position.x];
}

// RUN: --kernel bound_buffer --threads 2 --group 2 --arg n=i32:5 --arg shared_values=i32[2]=ones
// EXPECT shared_values: 6 6
kernel void bound_buffer(constant int& n [[buffer(0)]]) { shared_values[position.x] += n; }

// RUN: --kernel bound_reference --threads 2 --group 2 --arg x=f32[2]=ones --arg scale={factor=3} --threadgroup-memory 0=16
// EXPECT x: 3 3
kernel void bound_reference(device float* x [[buffer(0)]]) {
  scratch[position.x] = x[position.x] * scale.factor;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[position.x] = scratch[1 - position.x];
}
