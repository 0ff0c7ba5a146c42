// Quantisation to four bits: two threads put their half into one byte, each by reading and writing the whole of it.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange --arg out=u8[32]=zeros
// FINDS: device-race put put
#include <metal_stdlib>
using namespace metal;

kernel void quantise(device const float* x, device uchar* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  if (i >= 32) return;
  out[i] = uchar(x[2 * i]) % 16 | (uchar(x[2 * i + 1]) % 16 << 4);
#else
  out[i / 2] |= (uchar(x[i]) % 16) << (4 * (i % 2));  // @put
#endif
}
