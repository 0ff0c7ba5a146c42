// What goes wrong in a launch, and what is said about it. The process lives on after each.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel twice --threads 4 --group 4 --arg x=f32[4]=ones
// EXPECT x: 2 x 4
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }

// RUN: --kernel twicee --threads 4 --group 4 --arg x=f32[4]=ones
// ERROR unknown_function: twice
// RUN: --kernel twice --threads 4 --group 4
// ERROR invalid_argument: x
// RUN: --kernel twice --threads 4 --group 4 --arg x=f32[4]=ones --arg f32:1
// ERROR invalid_argument: twice
// RUN: --kernel twice --threads 4 --group 4 --arg x=i32[4]=ones
// ERROR invalid_argument: f32
// RUN: --kernel twice --threads 0 --group 4 --arg x=f32[4]=ones
// ERROR invalid_argument: 0
// RUN: --kernel twice --threads 4 --group 1025 --arg x=f32[4]=ones
// ERROR limit_exceeded: 1024

// RUN: --kernel large --threads 1 --group 1 --arg p=u8[4]=zeros
// ERROR invalid_argument: 16
struct Params {
  float4 v;
};
kernel void large(constant Params& p) {}

// RUN: --kernel crowded --threads 1 --group 1 --arg x=f32[1]=zeros
// ERROR limit_exceeded: 'crowded' is declared for 2048 threads per threadgroup; the limit is 1024
[[max_total_threads_per_threadgroup(2048)]] kernel void crowded(device float* x) {}

// RUN: --kernel crash --threads 1 --group 1 --arg x=u32[1]=zeros
// ERROR kernel_crashed: crash
kernel void crash(device uint* x) { x[1ul << 40] = 1; }

// RUN: --kernel endless --threads 40 --group 40 --arg x=u32[2]=zeros --timeout 0.2
// ERROR kernel_timed_out: endless
kernel void endless(device volatile uint* x) {
  while (x[0] == 0) x[1] += 1;
}

// Endless around a barrier, where threads change places.
// RUN: --kernel endless_barrier --threads 40 --group 40 --arg x=u32[2]=zeros --timeout 0.2
// ERROR kernel_timed_out: endless_barrier
kernel void endless_barrier(device volatile uint* x) {
  while (x[0] == 0) threadgroup_barrier(mem_flags::mem_device);
}

// And again after all of these.
// RUN: --kernel twice --threads 4 --group 4 --arg x=f32[4]=ones
// EXPECT x: 2 x 4
