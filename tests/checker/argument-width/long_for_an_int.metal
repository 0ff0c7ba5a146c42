// A Python integer arrives as 64 bits where the kernel has an uint. On this machine and for small numbers its first
// four bytes are right.
// CHECK: --threads 8 --group 8 --arg x=f32[8]=arange --arg n=i64:5
// CHECK REPAIRED: --threads 8 --group 8 --arg x=f32[8]=arange --arg n=u32:5
// FINDS: argument-width
#include <metal_stdlib>
using namespace metal;

kernel void clear(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i < n) x[i] = 0;
}
