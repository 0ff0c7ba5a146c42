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
// ERROR out_of_bounds: kernel 'crash' writes outside of argument 'x' (buffer 0): element 1099511627776 of 1
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

// Endless where the same lanes meet again and again, inside of calls that stay, and with nothing in the loop.
// RUN: --kernel endless_votes --threads 4096 --group 64 --arg x=u32[1]=zeros --timeout 0.2
// ERROR kernel_timed_out: 'endless_votes'
// ERROR kernel_timed_out: 0.2 s
kernel void endless_votes(device volatile uint* x) {
  while (simd_sum(x[0]) == 0) {
  }
}

static uint deep(uint n, device uint* x) {
  if (n > 0) return deep(n - 1, x) + 1;
  while (x[0] == 0) threadgroup_barrier(mem_flags::mem_device);
  return 1;
}

// RUN: --kernel endless_call --threads 4096 --group 64 --arg x=u32[1]=zeros --timeout 0.2
// ERROR kernel_timed_out: endless_call
kernel void endless_call(device uint* x) { deep(3, x); }

// RUN: --kernel endless_nothing --threads 4096 --group 64 --arg x=u32[1]=zeros --timeout 0.2
// ERROR kernel_timed_out: endless_nothing
kernel void endless_nothing(device uint* x) {
  while (true) {
  }
}

// RUN: --kernel endless_atomics --threads 4096 --group 64 --arg x=u32[1]=zeros --timeout 0.2
// ERROR kernel_timed_out: endless_atomics
kernel void endless_atomics(device atomic_uint* x) {
  while (true) atomic_fetch_add_explicit(x, 1, memory_order_relaxed);
}

// A crash says which thread it was, in its threadgroup, and at which address. (A GPU's context ends with it.)
// RUN: --kernel one_crashes --threads 1024 --group 64 --arg x=u32[1024]=zeros
// EXCEPT: cuda
// ERROR kernel_crashed: kernel 'one_crashes' crashed
// ERROR kernel_crashed: 0x309
// ERROR kernel_crashed: (12, 0, 0)
// ERROR kernel_crashed: failures.metal:
kernel void one_crashes(device uint* x, uint i [[thread_position_in_grid]]) {
  uint sum = simd_sum(i);
  if (i == 777) *(device uint*)(ulong(i)) = 1;
  x[i] = simd_sum(sum);
}

// And again after all of these.
// RUN: --kernel twice --threads 4 --group 4 --arg x=f32[4]=ones
// EXPECT x: 2 x 4
