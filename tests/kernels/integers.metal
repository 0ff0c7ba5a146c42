// Integer semantics where C++ leaves them open: shifts are masked, division never traps, conversions saturate.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel shifts --threads 1 --group 1 --arg out=i32[4]=zeros --arg n=i32:33
// EXPECT out: 2 -2 2 1
kernel void shifts(device int* out, constant int& n) {
  out[0] = 1 << n;
  out[1] = -4 >> n;
  out[2] = int(4u >> n);
  out[3] = int(1ul << (n + 31));
}

// RUN: --kernel divide --threads 1 --group 1 --arg out=i32[2]=zeros --arg zero=i32:0 --arg least=i32:-2147483648
// EXPECT out: 1 1
kernel void divide(device int* out, constant int& zero, constant int& least) {
  volatile int quotient = 7 / zero;
  quotient = 7 % zero;
  quotient = least / (zero - 1);
  out[0] = 1 + 0 * quotient;
  out[1] = 1;
}

// The quotient does not change in the loop, and is asked for in some of its turns: not in the first one.
// RUN: --kernel divide_in_some_turns --threads 4 --group 4 --arg out=i32[4]=zeros --arg in=i32[4]=28,28,28,28
// EXPECT out: 1 28 28 1
kernel void divide_in_some_turns(device int* out, device const int* in, uint i [[thread_position_in_grid]]) {
  int x = in[i];
  int table[4][3] = {{1, 2, 3}, {4, x, 6}, {7, 8, int(i)}, {1, 1, 1}};
  for (int k = 0; k < (x & 7); ++k) {
    for (int n = 0; n < ((x ^ k) & 3); ++n) table[1][(uint(x) / (i + 1)) % 3u] = 1;
  }
  out[i] = table[1][1];
}

// RUN: --kernel convert --threads 1 --group 1 --arg out=i32[5]=zeros --arg x=f32[5]=nan,1e20,-1e20,-1.9,2.9
// EXPECT out: 0 2147483647 -2147483648 -1 2
kernel void convert(device int* out, device const float* x) {
  for (int i = 0; i < 5; ++i) out[i] = int(x[i]);
}

// RUN: --kernel convert_halves --threads 1 --group 1 --arg out=i16[12]=zeros --arg x=f16[6]=nan,-nan,inf,-inf,60000,-7.5
// EXPECT out: 0 0 32767 -32768 32767 -7 0 0 32767 -32768 32767 -7
kernel void convert_halves(device short* out, device const half* x) {
  for (int i = 0; i < 6; ++i) out[i] = short(x[i]);
  short4 first = short4(half4(x[0], x[1], x[2], x[3]));
  short2 rest = short2(half2(x[4], x[5]));
  for (int i = 0; i < 4; ++i) out[6 + i] = first[i];
  out[10] = rest.x;
  out[11] = rest.y;
}

// RUN: --kernel bits --threads 1 --group 1 --arg out=u32[6]=zeros --arg x=u32:240
// EXPECT out: 4 24 4 251658240 15 65520
kernel void bits(device uint* out, constant uint& x) {
  out[0] = popcount(x);
  out[1] = clz(x);
  out[2] = ctz(x);
  out[3] = reverse_bits(x);
  out[4] = extract_bits(x, 4, 8);
  out[5] = insert_bits(x, 0xffu, 8, 8);
}

// 0x7149f2ca is 1e30. In this order: division by zero and overflow of a quotient leave the dividend, and no remainder;
// amounts of shifts are taken modulo the width (32 and 33, 34, 64); NaN is 0 and what is too large the next number.
// RUN: --kernel never_traps --threads 1 --group 1 --arg out=i32[16]=zeros --arg in=i32[4]=0,-1,-2147483648,31
// RUN+: --arg nan=f32:nan --arg huge=f32:1e30
// EXPECT out: 7 0 -2147483648 0 7 0 1 -1073741824 536870912 0 2147483647 -2147483648 0 -1 127 1
kernel void never_traps(device int* out, device const int* in, constant float& nan, constant float& huge) {
  int zero = in[0], minus_one = in[1], least = in[2], big = in[3];
  out[0] = 7 / zero;
  out[1] = 7 % zero;
  out[2] = least / minus_one;
  out[3] = least % minus_one;
  out[4] = int(7u / uint(zero));
  out[5] = int(7u % uint(zero));
  out[6] = 1 << (big + 1);
  out[7] = least >> (big + 2);
  out[8] = int(uint(least) >> uint(big + 3));
  out[9] = int(nan);
  out[10] = int(huge);
  out[11] = int(-huge);
  out[12] = int(uint(-huge));
  out[13] = int(uint(huge));
  out[14] = int(char(huge));
  out[15] = int(ulong(1) << ulong(big + 33));
}
