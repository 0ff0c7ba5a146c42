// A thread's own variables: large ones, too many of them, and calls without end. The process lives on after each.
#include <metal_stdlib>
using namespace metal;

// Where threads meet, each has its own at the same time: (3200 + i) * i.
// RUN: --kernel large --threads 4 --group 4 --arg out=u32[4]=zeros
// EXPECT out: 0 401 804 1209
// RUN: --kernel large --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 0 3201 6404 9609 12816 16025 19236 22449 25664 28881 32100 35321 38544 41769 44996 48225 51456 54689 57924
// EXPECT+: 61161 64400 67641 70884 74129 77376 80625 83876 87129 90384 93641 96900 100161
kernel void large(device uint* out, uint i [[thread_position_in_grid]]) {
  uint big[20000];
  for (uint k = 0; k < 20000; ++k) big[k] = k * i;
  uint at = simd_sum(1u) * 100;
  out[i] = big[at + i];
}

// More than fits onto any stack: element 4096 * 16 i holds its index and i. (A GPU's threads have 512 KiB.)
// RUN: --kernel huge --threads 64 --group 8 --arg out=u32[64]=arange
// EXCEPT: cuda
// EXPECT out: 0 65537 .. 4128831
kernel void huge(device uint* out, uint i [[thread_position_in_grid]]) {
  uint big[4 << 20];
  for (uint k = 0; k < 4 << 20; k += 4096) big[k] = k + i;
  out[i] = big[out[i] * 16 * 4096];
}

// RUN: --kernel too_much --threads 2 --group 2 --arg out=u32[2]=zeros
// EXCEPT: cuda
// EXPECT out: 0 1
kernel void too_much(device uint* out, uint i [[thread_position_in_grid]]) {
  uint big[64 << 20];
  for (uint k = 0; k < 64 << 20; k += 4096) big[k] = k + i;
  out[i] = big[out[i] * 4096];
}

// RUN: --kernel too_much_at_once --threads 32 --group 32 --arg out=u32[32]=zeros
// EXCEPT: cuda
// ERROR limit_exceeded: 'too_much_at_once'
// ERROR limit_exceeded: make 32 threads; the kernel's max_total_threads_per_threadgroup is 4
kernel void too_much_at_once(device uint* out, uint i [[thread_position_in_grid]]) {
  uint big[64 << 20];
  for (uint k = 0; k < 64 << 20; k += 4096) big[k] = k + i;
  simd_sum(i);
  out[i] = big[out[i] * 4096];
}

static uint endless(uint n, thread uint* p) {
  uint x[64];
  x[n % 64] = *p;
  return n == 0xffffffff ? 0 : endless(n + 1, x + n % 64) + x[3];
}

static uint endless_to_meet(uint n, thread uint* p) {
  uint x[64];
  x[n % 64] = *p;
  return n == 0xffffffff ? simd_sum(n) : endless_to_meet(n + 1, x + n % 64) + x[3];
}

// RUN: --kernel recursion --threads 64 --group 8 --arg out=u32[1]=zeros
// ERROR kernel_crashed: stack overflowed
kernel void recursion(device uint* out) {
  uint start = out[0];
  out[0] = endless(0, &start);
}

// RUN: --kernel recursion_of_one --threads 64 --group 64 --arg out=u32[64]=zeros
// ERROR kernel_crashed: stack overflowed
kernel void recursion_of_one(device uint* out, uint i [[thread_position_in_grid]]) {
  uint start = simd_sum(i);
  if (i == 5) out[i] = endless(0, &start);
  out[i] = simd_sum(1u);
}

// RUN: --kernel recursion_to_meet --threads 64 --group 64 --arg out=u32[64]=zeros
// ERROR kernel_crashed: stack overflowed
kernel void recursion_to_meet(device uint* out, uint i [[thread_position_in_grid]]) {
  uint start = simd_sum(i);
  if (i == 5) out[i] = endless_to_meet(0, &start);
}

// And again after all of these.
// RUN: --kernel large --threads 2 --group 2 --arg out=u32[2]=zeros
// EXPECT out: 0 201
