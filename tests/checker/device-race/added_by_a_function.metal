// A function that stays a call adds to one element for all threads of a simdgroup.
// CHECK: --threads 64 --group 32 --arg x=f32[64]=arange --arg sums=f32[64]=zeros
// FINDS: device-race add add
#include <metal_stdlib>
using namespace metal;

__attribute__((noinline)) void add(device float* sums, float value) {
  *sums += value;  // @add
}

kernel void sum(device const float* x, device float* sums, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  add(sums + i, x[i]);
#else
  add(sums + i % 32, x[i]);
#endif
}
