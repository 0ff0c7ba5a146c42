// Input and output are one array, and a thread writes what another one reads. The repaired kernel uses its argument in
// place, element by element, which is allowed.
// CHECK: --threads 64 --group 64 --arg x=i32[64]=arange --arg out=@x
// FINDS: overlapping-arguments
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device const int* x, device int* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  out[i] = x[i] * 2;
#else
  out[i] = x[63 - i];
#endif
}
