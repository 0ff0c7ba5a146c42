// Kernels that leave their own variables, and what is said about it. The process lives on after each.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel upwards --threads 4 --group 4 --arg x=u32[3]=0,3000,0
// ERROR out_of_bounds: kernel 'upwards' writes outside of a thread's variable 'a': element 64 of 64 (bytes 256 to 259 of 256)
// ERROR out_of_bounds: overruns.metal:14, thread (0, 0, 0)
// RUN: --kernel upwards --threads 4 --group 4 --arg x=u32[3]=0,40000000,0
// ERROR out_of_bounds: overruns.metal:14
kernel void upwards(device uint* x) {
  uint a[64];
  for (uint k = 0; k < 64; ++k) a[k] = x[0] + k;
  // More than the frame of the caller.
  for (uint k = 0; k < x[1]; ++k) a[k] = k * 77777u;
  x[2] = a[x[0]];
}

// memset of the C library.
// RUN: --kernel zeroed --threads 4 --group 4 --arg x=u32[3]=0,40000000,0
// ERROR out_of_bounds: kernel 'zeroed' writes outside of a thread's variable 'a'
// ERROR out_of_bounds: overruns.metal:25
kernel void zeroed(device uint* x) {
  uint a[64];
  for (uint k = 0; k < 64; ++k) a[k] = x[0] + k;
  for (uint k = 0; k < x[1]; ++k) a[k] = 0;
  x[2] = a[x[0]];
}

// RUN: --kernel downwards --threads 4 --group 4 --arg x=u32[3]=0,40000000,0
// ERROR out_of_bounds: element -1 of 64 (bytes -4 to -1 of 256)
// ERROR out_of_bounds: overruns.metal:35
kernel void downwards(device uint* x) {
  uint a[64];
  for (uint k = 0; k < 64; ++k) a[k] = x[0] + k;
  for (uint k = 0; k < x[1]; ++k) a[-int(k)] = k * 77777u;
  x[2] = a[x[0]];
}

// RUN: --kernel meeting --threads 4 --group 4 --arg x=u32[3]=0,40000000,0
// ERROR out_of_bounds: kernel 'meeting' writes outside of a thread's variable 'a': element 64 of 64
// ERROR out_of_bounds: overruns.metal:46
kernel void meeting(device uint* x, uint i [[thread_position_in_grid]]) {
  uint a[64];
  for (uint k = 0; k < 64; ++k) a[k] = x[0] + k;
  threadgroup_barrier(mem_flags::mem_none);
  for (uint k = 0; k < x[1]; ++k) a[k] = k * 77777u;
  threadgroup_barrier(mem_flags::mem_none);
  x[2] = a[x[0]];
}

// RUN: --kernel large --threads 4 --group 4 --arg x=u32[3]=0,400000000,0
// EXCEPT: cuda
// ERROR out_of_bounds: a thread's variable 'a': element 100000 of 100000
// ERROR out_of_bounds: overruns.metal:57
kernel void large(device uint* x) {
  uint a[100000];
  for (uint k = 0; k < x[1]; ++k) a[k] = k * 77777u;
  x[2] = a[x[0]];
}

// RUN: --kernel stopped --threads 8 --group 4 --arg x=u32[1]=0
// ERROR kernel_crashed: kernel 'stopped' crashed at overruns.metal:65
// ERROR kernel_crashed: illegal instruction or unreachable code
kernel void stopped(device uint* x, uint i [[thread_position_in_grid]]) {
  if (i == 5) __builtin_trap();
}

// RUN: --kernel third --threads 8 --group 4 --arg x=u32[1]=0
// ERROR kernel_crashed: overruns.metal:74
// ERROR kernel_crashed: illegal instruction or unreachable code
// ERROR kernel_crashed: in threadgroup (1, 0, 0)
kernel void third(device uint* x, uint i [[thread_position_in_grid]]) {
  threadgroup_barrier(mem_flags::mem_none);
  if (i == 7) __builtin_trap();
  threadgroup_barrier(mem_flags::mem_none);
}

// memcpy of the C library.
// RUN: --kernel copied --threads 1 --group 1 --arg x=u8[1200]=zeros
// ERROR out_of_bounds: kernel 'copied' reads outside of argument 'x' (buffer 0): element 1073741824 of 1
// ERROR out_of_bounds: overruns.metal:85
struct Large {
  uint values[300];
};
kernel void copied(device Large* x) { *x = *(x + (1ul << 30)); }

// RUN: --kernel below --threads 1 --group 1 --arg x=u32[1]=40000 --threadgroup-memory 0=16
// ERROR out_of_bounds: kernel 'below' writes outside of argument 't' (threadgroup 0): element -1 of 4
// ERROR out_of_bounds: overruns.metal:91
kernel void below(device uint* x, threadgroup uint* t [[threadgroup(0)]]) {
  for (uint k = 0; k < x[0]; ++k) t[-int(k)] = 5;
}

// What threadgroup memory holds at first: NaN, and large odd numbers. In every threadgroup and every launch. (Nobody
// fills a GPU's.)
// RUN: --kernel unwritten --threads 128 --group 64 --arg x=u32[8]=zeros --threadgroup-memory 0=128
// EXCEPT: cuda
// EXPECT x: 1 1 1 2147450879 1 1 1 2147450879
// RUN: --kernel unwritten --threads 128 --group 64 --arg x=u32[8]=zeros --threadgroup-memory 0=128
// EXCEPT: cuda
// EXPECT x: 1 1 1 2147450879 1 1 1 2147450879
kernel void unwritten(device uint* x, uint i [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                      threadgroup uint* given [[threadgroup(0)]]) {
  threadgroup float own[64];
  threadgroup half halves[64];
  threadgroup bfloat bfloats[64];
  if (i == 0) {
    x[group * 4] = isnan(own[63]);
    x[group * 4 + 1] = isnan(halves[63]);
    x[group * 4 + 2] = isnan(bfloats[63]);
    x[group * 4 + 3] = given[31];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  own[i] = halves[i] = bfloats[i] = 1;
  given[i / 2] = 0;
}

// RUN: --kernel frames --threads 1 --group 1 --arg x=u32[3]=zeros
// ERROR limit_exceeded: overruns.metal:121: function 'deep', which kernel 'frames' calls, has too many variables: 100000000 bytes
int deep(device uint* x, int n) {
  char big[100000000];
  big[x[0]] = n;
  return n > int(x[1]) ? 1 : deep(x, n + 1) + big[x[2]];
}
kernel void frames(device uint* x) { x[2] = deep(x, 0); }

// The engines of the CPU name the signal of `stopped` and `third`.
// RUN: --kernel stopped --threads 8 --group 4 --arg x=u32[1]=0
// ERROR kernel_crashed: kernel 'stopped' crashed at overruns.metal:65: SIGILL
// EXCEPT: cuda
// RUN: --kernel third --threads 8 --group 4 --arg x=u32[1]=0
// ERROR kernel_crashed: overruns.metal:74: SIGILL (illegal instruction or unreachable code), in threadgroup (1, 0, 0)
// EXCEPT: cuda
