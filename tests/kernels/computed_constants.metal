// Constants at program scope whose values take computing: with function constants, functions of the standard library,
// loops, tables, structures, pointers. Each kernel compares with the same expression at run time.
#include <metal_stdlib>
using namespace metal;

constant uint n [[function_constant(0)]];

constant uint3 size = uint3(n, 20u, 1u);
constant float sine = sin(1.0f);
constant half half_sine = half(sin(1.0f));
constant bfloat brain_sine = bfloat(sine);
constant float root = sqrt(float(n));
constant float power = pow(2.0f, float(n));
constant float rounded = floor(float(n) / 2);
constant uint bits = popcount(n);
constant float4x4 columns = float4x4(float4(n), float4(sine), float4(root), float4(1));
constant float list[3] = {sin(1.0f), root, float(n)};
constant float sum = sine + root;

// RUN: --kernel values --constant n=7 --threads 1 --group 1 --arg x=f32[15]=zeros --arg one=1
// EXPECT x: 7 20 1 1 1 1 1 128 3 3 1 1 1 7 1
kernel void values(device float* x, constant float& one) {
  const float seven = 7 * one;
  x[0] = size.x;
  x[1] = size.y;
  x[2] = size.z;
  x[3] = abs(sine - sin(one)) < 1e-6f;
  x[4] = half_sine == half(sine);
  x[5] = brain_sine == bfloat(sine);
  x[6] = root == sqrt(seven);
  x[7] = power;
  x[8] = rounded;
  x[9] = bits;
  x[10] = columns[0][3] == 7 && columns[1][2] == sine && columns[3][0] == 1;
  x[11] = list[0] == sine;
  x[12] = list[1] == root;
  x[13] = list[2];
  x[14] = sum == sine + root;
}

uint sum_of_squares(uint count) {
  uint total = 0;
  for (uint i = 0; i < count; ++i) total += i * i;
  return total;
}
struct Table {
  float powers[8];
  uchar tag;
  uint count;
};
Table fill(float base) {
  Table table;
  for (int i = 0; i < 8; ++i) table.powers[i] = pow(base, float(i));
  table.tag = 'x';
  table.count = 8;
  return table;
}
constant uint squares = sum_of_squares(n);
constant Table table = fill(float(n) - 5);
constant uint from_table = uint(table.powers[3]) + squares;

// RUN: --kernel functions --constant 0=7 --threads 1 --group 1 --arg x=u32[6]=zeros
// EXPECT x: 91 8 128 8 120 99
// RUN: --kernel functions --constant 0=8 --threads 1 --group 1 --arg x=u32[6]=zeros
// EXPECT x: 140 27 2187 8 120 167
kernel void functions(device uint* x) {
  x[0] = squares;
  x[1] = uint(round(table.powers[3]));
  x[2] = uint(round(table.powers[7]));
  x[3] = table.count;
  x[4] = table.tag;
  x[5] = from_table;
}

// Constants of templates, which have no order of their own, and one that is used before the other is declared.
template <typename T>
struct Half {
  static constant T value;
};
constant float later_half = Half<float>::value * 2;
template <typename T>
constant T Half<T>::value = T(sin(T(n))) / 2;
struct Late {
  static constant uint value;
};
constant uint early = Late::value + 1;
constant uint Late::value = sum_of_squares(n);

// RUN: --kernel order --constant n=7 --threads 1 --group 1 --arg x=f32[2]=zeros --arg seven=7
// EXPECT x: 1 92
kernel void order(device float* x, constant float& seven) {
  x[0] = abs(later_half - sin(seven)) < 1e-6f;
  x[1] = early;
}

constant int steps[4] = {10, 20, 30, 40};
int twice(int x) { return 2 * x; }
int thrice(int x) { return 3 * x; }
struct Choice {
  constant int* step;
  int (*function)(int);
  int index;
};
Choice choose(uint count) {
  Choice choice;
  choice.index = 0;
  while (uint(choice.index) < count) ++choice.index;
  choice.step = &steps[choice.index];
  choice.function = count > 2 ? thrice : twice;
  return choice;
}
constant Choice choice = choose(n);

// RUN: --kernel pointers --constant n=2 --threads 1 --group 1 --arg x=i32[3]=zeros
// EXPECT x: 30 10 2
// RUN: --kernel pointers --constant n=3 --threads 1 --group 1 --arg x=i32[3]=zeros
// EXPECT x: 40 15 3
kernel void pointers(device int* x) {
  x[0] = *choice.step;
  x[1] = choice.function(5);
  x[2] = choice.index;
}

// What cannot be computed is an error of the kernels that use it, and of no others.
int read_nowhere(uint count) {
  int total = 0;
  for (uint i = 0; i <= count; ++i) total += *(constant int*)(16ul + i);
  return total;
}
constant int nowhere = read_nowhere(n);

// RUN: --kernel crashes --constant n=1 --threads 1 --group 1 --arg x=i32[1]=zeros
// ERROR invalid_argument: computed_constants.metal:130: constant 'nowhere' cannot be computed
kernel void crashes(device int* x) { x[0] = nowhere; }

uint lane_sum(uint count) {
  uint total = 0;
  for (uint i = 0; i < count; ++i) total += simd_sum(i);
  return total;
}
constant uint lanes = lane_sum(n);

// RUN: --kernel meets --constant n=1 --threads 1 --group 1 --arg x=u32[1]=zeros
// ERROR unsupported: constant 'lanes' cannot be computed
kernel void meets(device uint* x) { x[0] = lanes; }
