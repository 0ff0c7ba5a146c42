// A thread keeps up to eight elements in an array of its own, loads those that exist, and sums eight.
// CHECK: --threads 4 --group 4 --arg x=f32[30]=ones --arg out=f32[4]=zeros --arg n=30
// FINDS: uninitialised add
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, constant uint& n, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  float own[8] = {};
#else
  float own[8];
#endif
  for (uint k = 0; k < 8; ++k) {
    if (i * 8 + k < n) own[k] = x[i * 8 + k];
  }
  float sum = 0;
  for (uint k = 0; k < 8; ++k) sum += own[k];  // @add
  out[i] = sum;
}
