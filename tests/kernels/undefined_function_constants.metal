// A kernel that reads a function constant without a value is refused, as Metal refuses the pipeline (MSL spec 5.8.1).
// Code that only is_function_constant_defined() lets run does not count.
#include <metal_stdlib>
using namespace metal;

constant uint a [[function_constant(0)]];
constant float b [[function_constant(1)]];
constant bool c [[function_constant(2)]];
constant uint a_or_three = is_function_constant_defined(a) ? a : 3;
constant uint twice_a = 2 * a;
constant uint four_a = 2 * twice_a;
uint optional_a() {
  if (is_function_constant_defined(a) && a > 1) return a;
  return 4;
}
constant uint optional = optional_a();
constant bool is_large = a > 10;

// RUN: --kernel reads --threads 1 --group 1 --arg x=u32[1]=zeros
// ERROR invalid_argument: needs a value for function constant 'a' (index 0) of type uint
// RUN: --kernel reads --constant b=1 --threads 1 --group 1 --arg x=u32[1]=zeros
// ERROR invalid_argument: kernel 'reads' (
// RUN: --kernel reads --constant a=5 --threads 1 --group 1 --arg x=u32[1]=zeros
// EXPECT x: 5
kernel void reads(device uint* x) { x[0] = a; }

// RUN: --kernel sometimes --threads 1 --group 1 --arg x=u32[1]=zeros
// ERROR invalid_argument: function constant 'b' (index 1) of type float
kernel void sometimes(device uint* x) {
  if (x[0] == 7) x[0] = uint(b);
}

// RUN: --kernel derived --threads 1 --group 1 --arg x=u32[1]=zeros
// ERROR invalid_argument: function constant 'a' (index 0) of type uint, which 'four_a' is computed from
kernel void derived(device uint* x) { x[0] = four_a; }

// RUN: --kernel asks --threads 1 --group 1 --arg x=u32[5]=ones
// EXPECT x: 0 1 3 4 9
// RUN: --kernel asks --constant a=8 --threads 1 --group 1 --arg x=u32[5]=ones
// EXPECT x: 1 8 8 8 8
kernel void asks(device uint* x) {
  x[0] = is_function_constant_defined(a);
  if (is_function_constant_defined(a)) x[1] = a;
  x[2] = a_or_three;
  x[3] = optional;
  x[4] = is_function_constant_defined(a) ? four_a / 4 : 9;
}

// An argument whose gate has no value is not there.
// RUN: --kernel gated --threads 1 --group 1 --arg x=u32[2]=zeros
// EXPECT x: 0 0
// RUN: --kernel gated --constant c=true --constant a=11 --threads 1 --group 1 --arg x=u32[2]=zeros --arg y=u32[1]=ones --arg z=u32[1]=ones
// EXPECT x: 1 1
kernel void gated(device uint* x [[buffer(0)]], device uint* y [[buffer(1), function_constant(c)]],
                  device uint* z [[buffer(2), function_constant(is_large)]]) {
  x[0] = y != nullptr;
  x[1] = z != nullptr;
}

constant ulong wide [[function_constant(3)]];
constant ulong2 wide2 [[function_constant(4)]];
constant float2 numbers [[function_constant(5)]];
// RUN: --kernel all_bits --constant wide=18446744073709551615 --constant wide2=1,9223372036854775808 --constant numbers=nan,-inf --threads 1 --group 1 --arg x=u64[3]=zeros --arg y=f32[2]=zeros
// EXPECT x: 18446744073709551615 1 9223372036854775808
// EXPECT y: nan -inf
kernel void all_bits(device ulong* x, device float* y) {
  x[0] = wide;
  x[1] = wide2.x;
  x[2] = wide2.y;
  y[0] = numbers.x;
  y[1] = numbers.y;
}

// A flag that is off guards what is computed with it, and what it is handed to.
constant bool scales [[function_constant(6)]];
constant int scale [[function_constant(7)]];
constant bool has_a = is_function_constant_defined(a);
constant uint a_or_six = has_a ? a : 6;
constant int scale_or_two = scales ? 3 * scale : 2;
constant float root = scales ? sqrt(float(scale)) : exp2(float(scale_or_two));
constant float twice_root = scales ? 2 * pow(float(scale), 0.5f) : 2 * root;
int sum_of_scales(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += scales ? scale : i;
  return sum;
}
constant int summed = sum_of_scales(4);
__attribute__((noinline)) int scaled(int x, bool wanted) { return wanted ? x * scale : x; }
__attribute__((noinline)) int scaled_twice(int x, bool wanted) { return scaled(x, wanted) + scaled(x + 1, wanted); }
int scaled_fibonacci(int n, bool wanted) {
  if (n < 2) return wanted ? scale : 1;
  return scaled_fibonacci(n - 1, wanted) + scaled_fibonacci(n - 2, wanted);
}
struct Options {
  int x;
  bool wanted;
};
__attribute__((noinline)) int scaled_by(thread const Options& options) {
  return options.wanted ? options.x * scale : options.x;
}

// RUN: --kernel guarded --constant scales=false --threads 1 --group 1 --arg x=i32[8]=zeros
// EXPECT x: 6 2 4 8 6 7 8 3
// RUN: --kernel guarded --constant scales=true --constant scale=9 --constant a=5 --threads 1 --group 1 --arg x=i32[8]=zeros
// EXPECT x: 5 27 3 6 36 63 72 27
// RUN: --kernel guarded --constant scales=true --threads 1 --group 1 --arg x=i32[8]=zeros
// ERROR invalid_argument: needs a value for function constant 'scale' (index 7) of type int
kernel void guarded(device int* x) {
  x[0] = a_or_six;
  x[1] = scale_or_two;
  x[2] = int(root);
  x[3] = int(twice_root);
  x[4] = summed;
  x[5] = scaled_twice(3, scales);
  x[6] = scaled_fibonacci(5, scales);
  Options options = {3, scales};
  x[7] = scaled_by(options);
}
