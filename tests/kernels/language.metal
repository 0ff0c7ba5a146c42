// Templates, address spaces, lambdas, constants.
#include <metal_stdlib>
using namespace metal;

constant float table[4] = {1, 10, 100, 1000};
constant constexpr int factor = 3;

// Overloads and partial specialisations by address space.
template <typename T>
struct space_of;
template <typename T>
struct space_of<device T*> {
  static constexpr constant int value = 1;
};
template <typename T>
struct space_of<constant T*> {
  static constexpr constant int value = 2;
};
template <typename T>
struct space_of<threadgroup T*> {
  static constexpr constant int value = 3;
};
int space(device const float*) { return 1; }
int space(constant const float*) { return 2; }
int space(threadgroup const float*) { return 3; }
int space(thread const float*) { return 4; }

// RUN: --kernel spaces --threads 1 --group 1 --arg out=i32[7]=zeros --arg d=f32[1]=0 --arg c=f32[1]=0
// EXPECT out: 1 2 3 4 1 2 3
kernel void spaces(device int* out, device float* d, constant float* c) {
  threadgroup float t[1];
  float p[1];
  out[0] = space(d);
  out[1] = space(c);
  out[2] = space(t);
  out[3] = space(p);
  out[4] = space_of<device float*>::value;
  out[5] = space_of<constant float*>::value;
  out[6] = space_of<threadgroup float*>::value;
}

struct Pair {
  int a, b;
  int sum() const device { return a + b; }
  int sum() const { return 1000 + a + b; }
};

// RUN: --kernel members --threads 1 --group 1 --arg out=i32[2]=zeros --arg p=u8[8]=3,0,0,0,4,0,0,0
// EXPECT out: 7 1007
kernel void members(device int* out, device const Pair* p) {
  out[0] = p[0].sum();
  Pair copy = p[0];
  out[1] = copy.sum();
}

// RUN: --kernel tables --threads 4 --group 4 --arg out=f32[4]=zeros
// EXPECT out: 3 30 300 3000
kernel void tables(device float* out, uint i [[thread_position_in_grid]]) { out[i] = table[i] * factor; }

// RUN: --kernel lambdas --threads 3 --group 3 --arg out=i32[3]=zeros
// EXPECT out: 5 6 7
kernel void lambdas(device int* out, uint i [[thread_position_in_grid]]) {
  int base = 5;
  auto add = [&](auto x) { return base + int(x); };
  out[i] = add(i);
}

template <typename T, int N>
T power(T x) {
  if constexpr (N == 0) {
    return T(1);
  } else {
    return x * power<T, N - 1>(x);
  }
}

// RUN: --kernel cube_float --threads 2 --group 2 --arg x=f32[2]=2,3
// EXPECT x: 8 27
// RUN: --kernel cube_half --threads 2 --group 2 --arg x=f16[2]=2,3
// EXPECT x: 8 27
// RUN: --kernel cube_int --threads 2 --group 2 --arg x=i32[2]=2,3
// EXPECT x: 8 27
template <typename T>
kernel void cube(device T* x, uint i [[thread_position_in_grid]]) {
  x[i] = power<T, 3>(x[i]);
}
template [[host_name("cube_float")]] kernel void cube<float>(device float*, uint);
template [[host_name("cube_half")]] kernel void cube<half>(device half*, uint);
template [[host_name("cube_int")]] kernel void cube<int>(device int*, uint);

// Macros of the compiler that stand for numbers in half.
// RUN: --kernel half_limits --threads 1 --group 1 --arg out=f32[2]=zeros
// EXPECT out: 65504 -32752
kernel void half_limits(device float* out) {
  out[0] = __FLT16_MAX__;
  out[1] = -__FLT16_MAX__ / 2;
}

// Element types of tensors are known without <metal_tensor>.
// RUN: --kernel format_widths --threads 1 --group 1 --arg out=i32[2]=zeros
// EXPECT out: 4 8
template <typename T>
struct bits_of {
  static constant constexpr int value = 8 * sizeof(T);
};
template <>
struct bits_of<metal::int4b_format> {
  static constant constexpr int value = 4;
};
kernel void format_widths(device int* out) {
  out[0] = bits_of<metal::conditional_t<true, metal::int4b_format, char>>::value;
  out[1] = bits_of<metal::conditional_t<false, metal::uint4b_format, char>>::value;
}
