// A constant array of rows of threadgroup memory, and one of structs: each thread has the addresses as its own.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange
#include <metal_stdlib>
using namespace metal;

struct Row {
  threadgroup float* begin;
  uint count;
};

kernel void exchanged(device float* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float even[64], odd[64];
  threadgroup float* rows[2] = {even, odd};
  const Row counted[2] = {{even, 64}, {odd, 64}};
  rows[i % 2][i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const Row other = counted[1 - i % 2];
  x[i] = other.begin[(i ^ 1) % other.count];
}
