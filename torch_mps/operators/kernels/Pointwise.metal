// Operators of three tensors: addcmul, addcdiv, lerp, clamp.
#include <ATen/native/mps/kernels/TensorCompare.h>
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

struct addcmul_functor {
  template <typename T, typename A>
  enable_if_t<!is_complex_v<T>, T> operator()(T a, T b, T c, A value) {
    return T(a + value * b * c);
  }
  template <typename T, typename A>
  enable_if_t<is_complex_v<T>, T> operator()(T a, T b, T c, A value) {
    return T(A(a) + mul(mul(value, A(b)), A(c)));
  }
};
struct addcdiv_functor {
  template <typename T, typename A>
  enable_if_t<!is_complex_v<T>, T> operator()(T a, T b, T c, A value) {
    return T(a + value * b / c);
  }
  template <typename T, typename A>
  enable_if_t<is_complex_v<T>, T> operator()(T a, T b, T c, A value) {
    return T(A(a) + div(mul(value, A(b)), A(c)));
  }
};

REGISTER_OPMATH_TERNARY_ALPHA_OP(addcmul, float, float, float);
REGISTER_OPMATH_TERNARY_ALPHA_OP(addcmul, half, float, half);
REGISTER_OPMATH_TERNARY_ALPHA_OP(addcmul, bfloat, float, bfloat);
REGISTER_OPMATH_TERNARY_ALPHA_OP(addcmul, float2, float2, float2);
REGISTER_OPMATH_TERNARY_ALPHA_OP(addcmul, half2, float2, half2);
REGISTER_TERNARY_ALPHA_OP(addcmul, long, long, long);
REGISTER_TERNARY_ALPHA_OP(addcmul, int, int, int);
REGISTER_TERNARY_ALPHA_OP(addcmul, short, short, short);
REGISTER_TERNARY_ALPHA_OP(addcmul, char, char, char);
REGISTER_TERNARY_ALPHA_OP(addcmul, uchar, uchar, uchar);
REGISTER_OPMATH_TERNARY_ALPHA_OP(addcdiv, float, float, float);
REGISTER_OPMATH_TERNARY_ALPHA_OP(addcdiv, half, float, half);
REGISTER_OPMATH_TERNARY_ALPHA_OP(addcdiv, bfloat, float, bfloat);
REGISTER_OPMATH_TERNARY_ALPHA_OP(addcdiv, float2, float2, float2);
REGISTER_OPMATH_TERNARY_ALPHA_OP(addcdiv, half2, float2, half2);

// From the nearer end, so that weight 1 gives the end itself.
struct lerp_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T start, T end, T weight) {
    const auto away = end - start;
    return T(fabs(float(weight)) < 0.5f ? start + weight * away : end - away * (T(1) - weight));
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T start, T end, T weight) {
    const float2 w = float2(weight);
    const float2 away = float2(end) - float2(start);
    return w.x * w.x + w.y * w.y < 0.25f ? T(float2(start) + mul(w, away))
                                         : T(float2(end) - mul(away, float2(1, 0) - w));
  }
};
REGISTER_OPMATH_TERNARY_OP(lerp, float, float);
REGISTER_OPMATH_TERNARY_OP(lerp, half, half);
REGISTER_OPMATH_TERNARY_OP(lerp, bfloat, bfloat);
REGISTER_OPMATH_TERNARY_OP(lerp, float2, float2);
REGISTER_OPMATH_TERNARY_OP(lerp, half2, half2);

struct lerp_alpha_functor {
  template <typename T, typename A>
  T operator()(T start, T end, A weight) {
    return T(lerp_functor()(A(start), A(end), weight));
  }
};
REGISTER_BINARY_ALPHA_OP(lerp_alpha, float, float, float);
REGISTER_BINARY_ALPHA_OP(lerp_alpha, half, float, half);
REGISTER_BINARY_ALPHA_OP(lerp_alpha, bfloat, float, bfloat);
REGISTER_BINARY_ALPHA_OP(lerp_alpha, float2, float2, float2);
REGISTER_BINARY_ALPHA_OP(lerp_alpha, half2, float2, half2);

// NaN in any of the three is the result; the upper limit wins over the lower one.
struct clamp_functor {
  template <typename T>
  enable_if_t<is_floating_point_v<T>, T> operator()(T x, T low, T high) {
    if (isnan(float(x))) {
      return x;
    }
    if (isnan(float(low)) || isnan(float(high))) {
      return T(NAN);
    }
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, T> operator()(T x, T low, T high) {
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};
REGISTER_TERNARY_OP(clamp, float, float);
REGISTER_TERNARY_OP(clamp, half, half);
REGISTER_TERNARY_OP(clamp, bfloat, bfloat);
REGISTER_TERNARY_OP(clamp, long, long);
REGISTER_TERNARY_OP(clamp, int, int);
REGISTER_TERNARY_OP(clamp, short, short);
REGISTER_TERNARY_OP(clamp, char, char);
REGISTER_TERNARY_OP(clamp, uchar, uchar);
REGISTER_TERNARY_OP(clamp, bool, bool);

// Limits that are numbers: computed in float, or in long for integers.
struct clamp_scalar_functor {
  template <typename T>
  T operator()(T x, ClampScalarParams<float> limits) {
    return T(clamp_functor()(float(x), limits.min, limits.max));
  }
  template <typename T>
  T operator()(T x, ClampScalarParams<long> limits) {
    return T(clamp_functor()(long(x), limits.min, limits.max));
  }
};
struct clamp_min_functor {
  template <typename T>
  T operator()(T x, float limit) {
    return isnan(limit) ? T(limit) : float(x) < limit ? T(limit) : x;
  }
  template <typename T>
  T operator()(T x, long limit) {
    return long(x) < limit ? T(limit) : x;
  }
};
struct clamp_max_functor {
  template <typename T>
  T operator()(T x, float limit) {
    return isnan(limit) ? T(limit) : float(x) > limit ? T(limit) : x;
  }
  template <typename T>
  T operator()(T x, long limit) {
    return long(x) > limit ? T(limit) : x;
  }
};

typedef ClampScalarParams<float> ClampScalarParams_float;
typedef ClampScalarParams<long> ClampScalarParams_long;
#define LIMITS(NAME, FLOATS, INTEGERS)                   \
  REGISTER_UNARY_ALPHA_OP(NAME, float, FLOATS, float);   \
  REGISTER_UNARY_ALPHA_OP(NAME, half, FLOATS, half);     \
  REGISTER_UNARY_ALPHA_OP(NAME, bfloat, FLOATS, bfloat); \
  REGISTER_UNARY_ALPHA_OP(NAME, long, INTEGERS, long);   \
  REGISTER_UNARY_ALPHA_OP(NAME, int, INTEGERS, int);     \
  REGISTER_UNARY_ALPHA_OP(NAME, short, INTEGERS, short); \
  REGISTER_UNARY_ALPHA_OP(NAME, char, INTEGERS, char);   \
  REGISTER_UNARY_ALPHA_OP(NAME, uchar, INTEGERS, uchar)
LIMITS(clamp_scalar, ClampScalarParams_float, ClampScalarParams_long);
LIMITS(clamp_min, float, long);
LIMITS(clamp_max, float, long);
