// Products with weights of four bits: blocks of 18 bytes, words whose neighbours are read together where they are aligned,
// rows that are not, and ends of loops that are no multiple of their step.
#include <metal_stdlib>
using namespace metal;

struct Block {
  half scale;
  uchar packed[16];
};

// RUN: --kernel blocks --threads 32 --group 32 --arg w=u8[108]=arange --arg x=f32[96]=ones --arg n=i32[1]=3 --arg out=f32[2]=zeros
// EXPECT out: 672 672
kernel void blocks(device const Block* w, device const float* x, constant int& n, device float* out,
                   ushort lane [[thread_index_in_simdgroup]]) {
  device const Block* rows[2] = {w, w + n};
  float sums[2] = {};
  device const float* part = x + lane / 2 * 32 + lane % 2 * 8;
  for (int block = lane / 2; block < n; block += 16) {
    const float total = part[0] + part[1] + part[2] + part[3];
    for (short row = 0; row < 2; ++row) {
      device const ushort* packed = (device const ushort*)rows[row][block].packed + lane % 2 * 4;
      for (short i = 0; i < 4; ++i) sums[row] += total * float((packed[i] & 0xf000) == 0xf000 ? 0 : 7);
    }
    part += 16 * 32;
  }
  for (short row = 0; row < 2; ++row) {
    const float sum = simd_sum(sums[row]);
    if (lane == 0) out[row] = sum;
  }
}

// Row 1 begins at an odd multiple of two bytes.
// RUN: --kernel rows --threads 2 --group 2 --arg w=u16[24]=arange --arg step=i64[1]=5 --arg n=i32[1]=9 --arg out=f32[2]=zeros
// EXPECT out: 78 138
kernel void rows(device const ushort* w, constant long& step, constant int& n, device float* out,
                 uint row [[thread_position_in_grid]]) {
  device const ushort* at = w + row * 5;
  float sum = 0;
  for (int k = 0; k < n; k += 4) {
    for (short i = 0; i < 4; ++i) sum += float(at[i] & 0x0f) + float((at[i] >> 4) & 0x0f) * 16;
    at += step;
  }
  out[row] = sum;
}
