// Many stores and loads of 16 bits by some lanes: processors without AVX-512 have no instructions for them.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel columns --threads 32 --group 32 --arg rows=u16[1280]=zeros --arg sums=u32[32]=zeros
// EXPECT sums: 5500 5460 5580 5540 0 0 5740 5700 5820 5780 5900 5860 5980 5940 6060 6020 6140 6100 6220 6180 6300 6260 6380 6340 6460 6420 6540 6500 6620 6580 6700 6660
kernel void columns(device ushort* rows, device uint* sums, uint i [[thread_position_in_threadgroup]]) {
  if (i != 5) {
#pragma unroll
    for (uint row = 0; row < 40; ++row) rows[32 * row + i] = 7 * row + i;
  }
  threadgroup_barrier(mem_flags::mem_device);
  if (i != 5) {
    uint sum = 0;
#pragma unroll
    for (uint row = 0; row < 40; ++row) sum += rows[32 * row + (i ^ 1)];
    sums[i] = sum;
  }
}

// By runs of eight lanes, for all lanes and for some.
// RUN: --kernel runs --threads 32 --group 32 --arg rows=u16[1600]=zeros --arg wrong=u32[32]=ones --arg skipped=5
// EXPECT wrong: 0 x 32
// ENGINE: simd
// RUN: --kernel runs --threads 32 --group 32 --arg rows=u16[1600]=zeros --arg wrong=u32[32]=ones --arg skipped=40
// EXPECT wrong: 0 x 32
// RUN: --kernel runs --threads 20 --group 20 --arg rows=u16[1600]=zeros --arg wrong=u32[32]=zeros --arg skipped=3
// EXPECT wrong: 0 x 32
kernel void runs(device ushort* rows, device uint* wrong, constant uint& skipped,
                 uint i [[thread_position_in_threadgroup]]) {
  if (i % 7 != skipped) {
#pragma unroll
    for (uint k = 0; k < 40; ++k) rows[i / 8 * 400 + k * 8 + i % 8] = 7 * k + i;
  }
  threadgroup_barrier(mem_flags::mem_device);
  const uint other = i ^ 1;
  uint count = 0;
  for (uint k = 0; k < 40; ++k) {
    count += rows[other / 8 * 400 + k * 8 + other % 8] != (other % 7 != skipped ? 7 * k + other : 0);
  }
  wrong[i] = count;
}
