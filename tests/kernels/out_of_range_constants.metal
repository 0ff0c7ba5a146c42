// Constants that C leaves undefined have the values that they have at run time: shift amounts are masked, conversions
// saturate, NaN becomes 0, division by zero never traps, signed sums wrap. Each pair of kernels writes the same values,
// once from constants and once from operands that the compiler does not know.
#include <metal_stdlib>
using namespace metal;

#define BITS 32

template <int N>
uint shifted() {
  return 1u << N;
}
template <uint N>
uint value_of() {
  return N;
}
constexpr uint shift_by(int n) { return 1u << n; }
constant uint at_program_scope = 1u << 33;
constant uchar4 vector_at_program_scope = uchar4(1) << uchar4(9);
constant uint conversion_at_program_scope = uint(-5.0f);
constant uint division_at_program_scope = 5u / 0u;
enum Flags { first = 1 << 32, second = 1 << 33 };
struct Named {
  static constexpr constant uint value = 1u << 35;
};

// RUN: --kernel constant_shifts --threads 1 --group 1 --arg x=u32[18]=zeros
// EXPECT x: 2 0 2 2 2 1 2 4 2147483648 2 2 2 2 2 3 8 2 4
kernel void constant_shifts(device uint* x) {
  constexpr uint local = 1u << 34;
  uint bounds[1 << 33] = {3, 8};
  uint assigned = 1;
  assigned <<= 33;
  x[0] = 1u << 33;
  x[1] = (1u << BITS) - 1;
  x[2] = shifted<33>();
  x[3] = shift_by(33);
  x[4] = at_program_scope;
  x[5] = first;
  x[6] = second;
  x[7] = local;
  x[8] = 1u << -1;
  x[9] = (uint4(1) << uint4(33)).w;
  x[10] = uint(1ul << 65);
  x[11] = uchar(1) << 33;
  x[12] = (uchar4(1) << uchar4(9)).z;
  x[13] = vector_at_program_scope.y;
  x[14] = bounds[0];
  x[15] = Named::value;
  x[16] = assigned;
  x[17] = value_of<(1u << 34)>();
}

// RUN: --kernel shifts --threads 1 --group 1 --arg x=u32[10]=zeros --arg one=1 --arg n=33
// EXPECT x: 2 0 4 2147483648 2 2 2 2 1 2
kernel void shifts(device uint* x, constant uint& one, constant uint& n) {
  uint assigned = one;
  assigned <<= n;
  x[0] = one << n;
  x[1] = (one << (n - 1)) - 1;
  x[2] = one << (n + 1);
  x[3] = one << (int(n) - 34);
  x[4] = (uint4(one) << uint4(n)).w;
  x[5] = uint(ulong(one) << (n + 32));
  x[6] = uchar(one) << n;
  x[7] = (uchar4(one) << uchar4(9 * one)).z;
  x[8] = one << (n - 1);
  x[9] = assigned;
}

// RUN: --kernel constant_conversions --threads 1 --group 1 --arg x=i32[14]=zeros --arg y=i64[4]=zeros
// EXPECT x: 0 -1 0 2147483647 -2147483648 127 -128 0 255 32767 0 1 2147483647 0
// EXPECT y: 9223372036854775807 -9223372036854775808 -1 0
kernel void constant_conversions(device int* x, device long* y) {
  x[0] = int(uint(-5.0f));
  x[1] = int(uint(1e30f));
  x[2] = int(NAN);
  x[3] = int(3e9f);
  x[4] = int(-INFINITY);
  x[5] = char(300.0f);
  x[6] = char(-300.0f);
  x[7] = uchar(-3.0f);
  x[8] = uchar(300.0f);
  x[9] = short(1e9f);
  x[10] = ushort(-1.0h);
  x[11] = bool(NAN);
  x[12] = int4(3e9f).y;
  x[13] = int(conversion_at_program_scope);
  y[0] = long(1e30f);
  y[1] = long(-1e30f);
  y[2] = long(ulong(1e30f));
  y[3] = long(ulong(-1.0f));
}

// RUN: --kernel conversions --threads 1 --group 1 --arg x=i32[13]=zeros --arg y=i64[4]=zeros --arg v=f32[8]=-5,1e30,nan,3e9,-inf,300,-300,-1
// EXPECT x: 0 -1 0 2147483647 -2147483648 127 -128 0 255 32767 0 1 2147483647
// EXPECT y: 9223372036854775807 -9223372036854775808 -1 0
kernel void conversions(device int* x, device long* y, constant float* v) {
  x[0] = int(uint(v[0]));
  x[1] = int(uint(v[1]));
  x[2] = int(v[2]);
  x[3] = int(v[3]);
  x[4] = int(v[4]);
  x[5] = char(v[5]);
  x[6] = char(v[6]);
  x[7] = uchar(v[0]);
  x[8] = uchar(v[5]);
  x[9] = short(v[1]);
  x[10] = ushort(half(v[7]));
  x[11] = bool(v[2]);
  x[12] = int4(v[3]).y;
  y[0] = long(v[1]);
  y[1] = long(-v[1]);
  y[2] = long(ulong(v[1]));
  y[3] = long(ulong(v[7]));
}

// RUN: --kernel constant_divisions --threads 1 --group 1 --arg x=i32[8]=zeros
// EXPECT x: 5 0 5 0 -2147483648 0 5 5
kernel void constant_divisions(device int* x) {
  const int smallest = -2147483647 - 1;
  x[0] = int(5u / 0u);
  x[1] = int(5u % 0u);
  x[2] = 5 / 0;
  x[3] = 5 % 0;
  x[4] = smallest / -1;
  x[5] = smallest % -1;
  x[6] = (int4(5) / int4(0)).x;
  x[7] = int(division_at_program_scope);
}

// RUN: --kernel divisions --threads 1 --group 1 --arg x=i32[7]=zeros --arg v=i32[4]=5,0,-2147483648,-1
// EXPECT x: 5 0 5 0 -2147483648 0 5
kernel void divisions(device int* x, constant int* v) {
  x[0] = int(uint(v[0]) / uint(v[1]));
  x[1] = int(uint(v[0]) % uint(v[1]));
  x[2] = v[0] / v[1];
  x[3] = v[0] % v[1];
  x[4] = v[2] / v[3];
  x[5] = v[2] % v[3];
  x[6] = (int4(v[0]) / int4(v[1])).x;
}

// RUN: --kernel sums --threads 1 --group 1 --arg x=i32[8]=zeros --arg v=i32[2]=2147483647,1
// EXPECT x: -2147483648 1 -2147483648 1 4 -2147483648 -128 32
kernel void sums(device int* x, constant int* v) {
  const int largest = 2147483647;
  x[0] = largest + 1;
  x[1] = v[0] + v[1] < v[0];
  x[2] = v[0] + v[1];
  x[3] = -(v[0] + v[1]) < 0;
  int steps = 0;
  for (int i = v[0] - 3; i > 0; i += v[1]) ++steps;  // ends by wrapping
  x[4] = steps;
  x[5] = abs(v[0] + v[1]);
  x[6] = char(127 * v[1]) + 1 == 128 ? char(128) : 0;
  x[7] = clz(v[1] - 1) & ctz(v[1] - 1);
}

float sometimes(float a) {
  if (a > 0) return a;
}

// What a function without `return` gives is undefined, but it does return.
// RUN: --kernel missing_return --threads 1 --group 1 --arg x=f32[2]=3,-1
// EXPECT x: 3 7
kernel void missing_return(device float* x) {
  const float value = sometimes(x[1]);
  x[1] = value == 0.0f ? 7 : 7;
}
