// A table of sixteen values for codes of four bits, looked up with the whole byte.
// CHECK: --threads 4 --group 4 --arg codes=u8[4]=1,7,0x1f,0xf0 --arg out=f32[8]=zeros
// FINDS: out-of-bounds entry
#include <metal_stdlib>
using namespace metal;

constant float table[16] = {-1.0f,  -0.70f, -0.53f, -0.39f, -0.28f, -0.18f, -0.09f, 0.0f,
                            0.08f, 0.16f,  0.25f,  0.34f,  0.44f,  0.56f,  0.72f,  1.0f};

kernel void dequantise(device const uchar* codes, device float* out, uint i [[thread_position_in_grid]]) {
  out[2 * i] = table[codes[i] & 15];
#ifdef REPAIRED
  out[2 * i + 1] = table[codes[i] >> 4];
#else
  out[2 * i + 1] = table[codes[i]];  // @entry
#endif
}
