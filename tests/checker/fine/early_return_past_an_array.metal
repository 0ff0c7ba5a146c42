// Threads that have returned are not waited for, whatever of theirs was alive when they did.
// CHECK: --threads 64 --group 64 --arg x=f32[40]=arange --arg n=40
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device float* x, constant uint& n, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  float own[2] = {0, 0};
  if (i >= n) return;
  own[i % 2] = x[i];
  t[i] = own[0] + own[1];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t[n - 1 - i];
}
