// An integer of 64 bits where the kernel has an uint. For small numbers the first four bytes are right, not for this one.
// CHECK: --threads 8 --group 8 --arg x=f32[8]=arange --arg n=i64:4294967297
// CHECK REPAIRED: --threads 8 --group 8 --arg x=f32[8]=arange --arg n=u32:5
// FINDS: argument-width
#include <metal_stdlib>
using namespace metal;

kernel void clear(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i < n) x[i] = 0;
}
