// A row that begins with an odd element, read in pairs of bfloat.
// CHECK: --threads 8 --group 8 --arg x=bf16[18]=arange --arg out=f32[8]=zeros --arg first=1
// FINDS: misaligned pair
#include <metal_stdlib>
using namespace metal;

kernel void pair_sums(device const bfloat* x, device float* out, constant uint& first,
                      uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  device const packed_bfloat2* pairs = (device const packed_bfloat2*)(x + first);
#else
  device const bfloat2* pairs = (device const bfloat2*)(x + first);
#endif
  const bfloat2 pair = pairs[i];  // @pair
  out[i] = float(pair.x) + float(pair.y);
}
