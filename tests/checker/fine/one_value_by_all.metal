// All threads write the same value to one place: a note, and no more.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=ones --arg any=u32[1]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void any_positive(device const float* x, device uint* any, uint i [[thread_position_in_grid]]) {
  if (x[i] > 0) any[0] = 1;
}
