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
