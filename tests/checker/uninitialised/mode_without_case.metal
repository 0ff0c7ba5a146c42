// A switch over the mode of an operation, which the host gave a number that has no case.
// CHECK: --threads 8 --group 8 --arg x=f32[8]=arange --arg mode=7
// FINDS: uninitialised result
#include <metal_stdlib>
using namespace metal;

kernel void apply(device float* x, constant int& mode, uint i [[thread_position_in_grid]]) {
  float result;
  switch (mode) {
    case 0: result = x[i] + 1; break;
    case 1: result = x[i] * x[i]; break;
#ifdef REPAIRED
    default: result = x[i]; break;
#endif
  }
  x[i] = result;  // @result
}
