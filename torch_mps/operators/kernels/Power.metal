// Powers, with a tensor or a number as exponent.
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

// exp(b log a); 0 to a power with a positive real part is 0, and anything to the power 0 is 1.
inline float2 complex_power(float2 a, float2 b) {
  if (b.x == 0 && b.y == 0) {
    return float2(1, 0);
  }
  if (a.x == 0 && a.y == 0) {
    return b.x > 0 ? float2(0, 0) : float2(NAN, NAN);
  }
  const float large = max(fabs(a.x), fabs(a.y));
  const float small = min(fabs(a.x), fabs(a.y));
  const float ratio = small / large;
  const float log_modulus = precise::log(large) + 0.5f * c10::metal::log1p(ratio * ratio);
  const float angle = precise::atan2(a.y, a.x);
  const float modulus = precise::exp(b.x * log_modulus - b.y * angle);
  const float turn = b.x * angle + b.y * log_modulus;
  return float2(modulus * precise::cos(turn), modulus * precise::sin(turn));
}

struct pow_functor {
  template <typename T>
  enable_if_t<is_scalar_floating_point_v<T>, T> operator()(T a, T b) {
    return T(precise::pow(float(a), float(b)));
  }
  template <typename T>
  enable_if_t<is_scalar_integral_v<T>, T> operator()(T a, T b) {
    return c10::metal::pow(a, b);
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T a, T b) {
    return T(complex_power(float2(a), float2(b)));
  }
};

REGISTER_OPMATH_BINARY_OP(pow, float, float);
REGISTER_OPMATH_BINARY_OP(pow, half, half);
REGISTER_OPMATH_BINARY_OP(pow, bfloat, bfloat);
REGISTER_BINARY_OP(pow, long, long);
REGISTER_BINARY_OP(pow, int, int);
REGISTER_BINARY_OP(pow, short, short);
REGISTER_BINARY_OP(pow, char, char);
REGISTER_BINARY_OP(pow, uchar, uchar);
REGISTER_OPMATH_BINARY_OP(pow, float2, float2);
REGISTER_OPMATH_BINARY_OP(pow, half2, half2);
REGISTER_BINARY_CASTOUT_OP(pow, float, float);
REGISTER_BINARY_CASTOUT_OP(pow, half, half);
REGISTER_BINARY_CASTOUT_OP(pow, bfloat, bfloat);
REGISTER_BINARY_CASTOUT_OP(pow, long, long);
REGISTER_BINARY_CASTOUT_OP(pow, int, int);
REGISTER_BINARY_CASTOUT_OP(pow, short, short);
REGISTER_BINARY_CASTOUT_OP(pow, char, char);
REGISTER_BINARY_CASTOUT_OP(pow, uchar, uchar);

// The exponent has the type that the power is computed in.
struct pow_scalar_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T a, float exponent) {
    return T(precise::pow(float(a), exponent));
  }
  template <typename T>
  enable_if_t<is_scalar_integral_v<T>, T> operator()(T a, long exponent) {
    return c10::metal::pow(a, exponent);
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T a, float2 exponent) {
    return T(complex_power(float2(a), exponent));
  }
};
REGISTER_UNARY_ALPHA_OP(pow_scalar, float, float, float);
REGISTER_UNARY_ALPHA_OP(pow_scalar, half, float, half);
REGISTER_UNARY_ALPHA_OP(pow_scalar, bfloat, float, bfloat);
REGISTER_UNARY_ALPHA_OP(pow_scalar, long, long, long);
REGISTER_UNARY_ALPHA_OP(pow_scalar, int, long, int);
REGISTER_UNARY_ALPHA_OP(pow_scalar, short, long, short);
REGISTER_UNARY_ALPHA_OP(pow_scalar, char, long, char);
REGISTER_UNARY_ALPHA_OP(pow_scalar, uchar, long, uchar);
REGISTER_UNARY_ALPHA_OP(pow_scalar, float2, float2, float2);
REGISTER_UNARY_ALPHA_OP(pow_scalar, half2, float2, half2);

struct sqr_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T a) {
    return T(opmath_t<T>(a) * opmath_t<T>(a));
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T a) {
    return T(c10::metal::mul(float2(a), float2(a)));
  }
};
REGISTER_UNARY_OP(sqr, float, float);
REGISTER_UNARY_OP(sqr, half, half);
REGISTER_UNARY_OP(sqr, bfloat, bfloat);
REGISTER_UNARY_OP(sqr, long, long);
REGISTER_UNARY_OP(sqr, int, int);
REGISTER_UNARY_OP(sqr, short, short);
REGISTER_UNARY_OP(sqr, char, char);
REGISTER_UNARY_OP(sqr, uchar, uchar);
REGISTER_UNARY_OP(sqr, float2, float2);
REGISTER_UNARY_OP(sqr, half2, half2);
