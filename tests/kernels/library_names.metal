// Names beside the mathematics: assert, static tables of constants, classes that convert to a bfloat, limits.
#include <metal_assert>
#include <metal_stdlib>
using namespace metal;

template <int n>
struct Table {};
template <>
struct Table<3> {
  static constexpr constant float values[2][2] = {{1.0f, 2.0f}, {3.0f, 4.0f}};
};
// Repeats what the class defined.
constant constexpr const float Table<3>::values[2][2];

// RUN: --kernel tables --threads 4 --group 4 --arg x=f32[4]=zeros
// EXPECT x: 1 2 3 4
kernel void tables(device float* x, uint i [[thread_position_in_grid]]) {
  assert(i < 4u);
  assert(i < 2u && "asserts do not stop a kernel");
  x[i] = Table<3>::values[i / 2][i % 2];
}

struct Always {
  char byte;
  METAL_FUNC operator bool() const device { return byte != 0; }
};

// RUN: --kernel bfloats --threads 1 --group 1 --arg mask=u8[2]=arange --arg x=f32[6]=zeros
// EXPECT x: 0 1 0 0 3 3
kernel void bfloats(device const Always* mask, device float* x) {
  bfloat scale;
  for (int i = 0; i < 2; ++i) {
    scale = mask[i];
    x[i] = scale;
  }
  vec<bfloat, 4> v;
  v = 0;
  x[2] = v.x;
  x[3] = v.w;
  v = 3;
  x[4] = v.x;
  x[5] = v.w;
}

struct Number {
  int value;
};
template <>
struct metal::_numeric_limits_impl<Number> : metal::_numeric_limits_impl<int> {};

// RUN: --kernel limits --threads 1 --group 1 --arg x=u32[3]=zeros
// EXPECT x: 2147483647 1 0
kernel void limits(device uint* x) {
  x[0] = uint(numeric_limits<Number>::max());
  x[1] = __is_valid_simdgroup_type<half>::value;
  x[2] = __is_valid_simdgroup_type<bool>::value;
}

// Fast math multiplies for powers that are whole numbers.
// RUN: --kernel whole_powers --threads 4 --group 4 --arg n=i32[4]=0,3,-2,10 --arg x=f32[4]=zeros
// EXPECT x ~1e-6: 1 3.375 0.4444444 57.66504
kernel void whole_powers(device const int* n, device float* x, uint i [[thread_position_in_grid]]) {
  x[i] = pow(1.5f, float(n[i]));
}
