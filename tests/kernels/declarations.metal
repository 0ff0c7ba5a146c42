// Where declarations, attributes and words may stand.
#include <metal_stdlib>
using namespace metal;

// The word kernel after the result type.
// RUN: --kernel after_type --threads 2 --group 2 --arg x=i32[2]=zeros
// EXPECT x: 0 1
void kernel after_type(device int* x, uint i [[thread_position_in_grid]]) { x[i] = i; }

// A static member of the constant space that gets its value outside of the class.
struct Pair {
  float value;
  uint index;
  static const constant Pair lowest;
};
constexpr constant Pair Pair::lowest = {.value = -INFINITY, .index = 7};

// RUN: --kernel static_member --threads 1 --group 1 --arg x=f32[2]=zeros
// EXPECT x: -inf 7
kernel void static_member(device float* x) {
  x[0] = Pair::lowest.value;
  x[1] = Pair::lowest.index;
}

// Predicates on numbers hold for vectors of them; a vector is no scalar and no class.
template <typename T>
constexpr constant int kind = is_integral_v<T> + 2 * is_floating_point_v<T> + 4 * is_scalar_v<T> + 8 * is_signed_v<T> +
                              16 * is_class_v<T>;

// RUN: --kernel predicates --threads 1 --group 1 --arg x=i32[6]=zeros
// EXPECT x: 9 10 10 14 1 13
kernel void predicates(device int* x) {
  x[0] = kind<int4>;
  x[1] = kind<float2>;
  x[2] = kind<bfloat2>;
  x[3] = kind<half>;
  x[4] = kind<device uint3>;
  x[5] = kind<int>;
}
