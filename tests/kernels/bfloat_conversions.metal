// Conversions of integers to bfloat are rounded once. By way of a float, a number just above the middle of two bfloats
// could become the middle, and then the lower one.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel of_integers --threads 4 --group 4 --arg x=u32[4]=16842753,16842752,4278255617,25231359
// RUN+: --arg out=u16[28]=zeros
// EXPECT out: 19329 19328 20351 19392
// EXPECT+: 19329 19328 52095 19392
// EXPECT+: 19329 19328 20351 19392
// EXPECT+: 23425 23424 24447 23488
// EXPECT+: 52097 52096 53119 52160
// EXPECT+: 19329 19328 20351 19392
// EXPECT+: 16256 x 3 19329
kernel void of_integers(const device uint* x, device ushort* out, uint i [[thread_position_in_grid]]) {
  out[i] = as_type<ushort>(bfloat(x[i]));
  out[4 + i] = as_type<ushort>(bfloat(int(x[i])));
  out[8 + i] = as_type<ushort>(bfloat(ulong(x[i])));
  out[12 + i] = as_type<ushort>(bfloat(ulong(x[i]) << 32));
  out[16 + i] = as_type<ushort>(bfloat(-long(x[i])));
  const bfloat4 several = bfloat4(uint4(x[0], x[1], x[2], x[3]));
  out[20 + i] = as_type<ushort>(several[i]);
  const bfloat implicit = i == 3 ? 16842753 : 1;
  out[24 + i] = as_type<ushort>(implicit);
}
