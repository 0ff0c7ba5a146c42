// Error functions, gamma functions, Bessel functions: in float for every type.
#include <c10/metal/indexing.h>
#include <c10/metal/special_math.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;

namespace special {

inline float lgamma(float x) {
  return isinf(x) ? INFINITY : c10::metal::log_gamma(x);
}
inline float digamma(float x) {
  return isinf(x) ? (x > 0 ? x : NAN) : c10::metal::digamma(x);
}
// The reflection's sine is taken of the distance from the nearest integer, which is exact.
inline float trigamma(float x) {
  float sign = 1;
  float result = 0;
  if (x < 0.5f) {
    const float sine = precise::sin(M_PI_F * (x - rint(x)));
    result = -(M_PI_F * M_PI_F) / (sine * sine);
    sign = -1;
    x = 1 - x;
  }
  for (int i = 0; i < 6; ++i) {
    result += 1 / (x * x);
    x += 1;
  }
  const float y = 1 / (x * x);
  result += (1 + 1 / (2 * x) + y * (1.0f / 6 - y * (1.0f / 30 - y * (1.0f / 42)))) / x;
  return sign * result;
}
inline float entr(float x) {
  return isnan(x) ? x : x > 0 ? -x * precise::log(x) : x == 0 ? 0.0f : -INFINITY;
}

// log of the normal distribution function; far to the left by the scaled complementary error
// function, which does not underflow.
inline float log_ndtr(float x) {
  const float t = x * M_SQRT1_2_F;
  if (x < -1.0f) {
    return precise::log(c10::metal::erfcx(-t) * 0.5f) - t * t;
  }
  return c10::metal::log1p(-c10::metal::erfc(t) * 0.5f);
}

// Inverse of the normal distribution function: Newton's steps on log_ndtr from an asymptotic start,
// for the lower half; the upper half is its mirror image (1 - p is exact there).
inline float lower_ndtri(float p) {
  const float wanted = precise::log(p);
  const float t = precise::sqrt(-2.0f * wanted);
  float x = p > 0.2f ? (p - 0.5f) * 2.5066283f : -(t - precise::log(t * 2.5066283f) / t);
  for (int step = 0; step < 5; ++step) {
    const float have = log_ndtr(x);
    // d/dx log_ndtr = density / distribution, both as logarithms.
    const float slope = precise::exp(-0.5f * x * x - 0.91893853f - have);
    x -= (have - wanted) / slope;
  }
  return x;
}
inline float ndtri(float p) {
  if (!(p >= 0.0f && p <= 1.0f)) {
    return NAN;
  }
  if (p == 0.0f || p == 1.0f) {
    return p == 0.0f ? -INFINITY : INFINITY;
  }
  return p <= 0.5f ? lower_ndtri(p) : -lower_ndtri(1.0f - p);
}

} // namespace special

#define SPECIAL_FUNCTION(NAME, FUNCTION)                                     \
  struct NAME##_functor {                                                    \
    template <typename T>                                                    \
    enable_if_t<is_floating_point_v<T>, T> operator()(T x) {                 \
      return T(FUNCTION(float(x)));                                          \
    }                                                                        \
    template <typename T>                                                    \
    enable_if_t<is_integral_v<T>, float> operator()(T x) {                   \
      return FUNCTION(float(x));                                             \
    }                                                                        \
  };                                                                         \
  REGISTER_UNARY_OP(NAME, float, float);                                     \
  REGISTER_UNARY_OP(NAME, half, half);                                       \
  REGISTER_UNARY_OP(NAME, bfloat, bfloat);                                   \
  REGISTER_UNARY_OP(NAME, long, float);                                      \
  REGISTER_UNARY_OP(NAME, int, float);                                       \
  REGISTER_UNARY_OP(NAME, short, float);                                     \
  REGISTER_UNARY_OP(NAME, char, float);                                      \
  REGISTER_UNARY_OP(NAME, uchar, float);                                     \
  REGISTER_UNARY_OP(NAME, bool, float)

SPECIAL_FUNCTION(erf, c10::metal::erf);
SPECIAL_FUNCTION(erfc, c10::metal::erfc);
SPECIAL_FUNCTION(erfinv, c10::metal::erfinv);
SPECIAL_FUNCTION(special_erfcx, c10::metal::erfcx);
SPECIAL_FUNCTION(special_log_ndtr, special::log_ndtr);
SPECIAL_FUNCTION(special_ndtri, special::ndtri);
SPECIAL_FUNCTION(special_entr, special::entr);
SPECIAL_FUNCTION(lgamma, special::lgamma);
SPECIAL_FUNCTION(digamma, special::digamma);
SPECIAL_FUNCTION(trigamma, special::trigamma);
SPECIAL_FUNCTION(i0, c10::metal::i0);
SPECIAL_FUNCTION(special_i0e, c10::metal::i0e);
SPECIAL_FUNCTION(special_i1, c10::metal::i1);
SPECIAL_FUNCTION(special_i1e, c10::metal::i1e);
SPECIAL_FUNCTION(special_spherical_bessel_j0, c10::metal::spherical_bessel_j0);
SPECIAL_FUNCTION(special_bessel_j0, c10::metal::bessel_j0_forward);
SPECIAL_FUNCTION(special_bessel_j1, c10::metal::bessel_j1_forward);
SPECIAL_FUNCTION(special_bessel_y0, c10::metal::bessel_y0_forward);
SPECIAL_FUNCTION(special_bessel_y1, c10::metal::bessel_y1_forward);
SPECIAL_FUNCTION(special_modified_bessel_i0, c10::metal::modified_bessel_i0_forward);
SPECIAL_FUNCTION(special_modified_bessel_i1, c10::metal::modified_bessel_i1_forward);
SPECIAL_FUNCTION(special_modified_bessel_k0, c10::metal::modified_bessel_k0_forward);
SPECIAL_FUNCTION(special_modified_bessel_k1, c10::metal::modified_bessel_k1_forward);
SPECIAL_FUNCTION(special_scaled_modified_bessel_k0, c10::metal::scaled_modified_bessel_k0_forward);
SPECIAL_FUNCTION(special_scaled_modified_bessel_k1, c10::metal::scaled_modified_bessel_k1_forward);

struct polygamma_functor {
  template <typename T>
  enable_if_t<is_floating_point_v<T>, T> operator()(T x, long order) {
    return T(c10::metal::polygamma(order, float(x)));
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, float> operator()(T x, long order) {
    return c10::metal::polygamma(order, float(x));
  }
};
REGISTER_UNARY_ALPHA_OP(polygamma, float, long, float);
REGISTER_UNARY_ALPHA_OP(polygamma, half, long, half);
REGISTER_UNARY_ALPHA_OP(polygamma, bfloat, long, bfloat);
REGISTER_UNARY_ALPHA_OP(polygamma, long, long, float);
REGISTER_UNARY_ALPHA_OP(polygamma, int, long, float);
REGISTER_UNARY_ALPHA_OP(polygamma, short, long, float);
REGISTER_UNARY_ALPHA_OP(polygamma, char, long, float);
REGISTER_UNARY_ALPHA_OP(polygamma, uchar, long, float);
REGISTER_UNARY_ALPHA_OP(polygamma, bool, long, float);
