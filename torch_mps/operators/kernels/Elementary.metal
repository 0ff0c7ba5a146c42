// Exponentials, logarithms, roots, circular and hyperbolic functions: reals in float, complex
// numbers by the textbook formulas, arranged so that nothing cancels or overflows early.
#include <c10/metal/expm1f.h>
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

namespace complex {

inline float2 times_i(float2 z) {
  return float2(-z.y, z.x);
}
inline float2 divided_by_i(float2 z) {
  return float2(z.y, -z.x);
}
inline float2 product(float2 a, float2 b) {
  return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
inline float modulus(float2 z) {
  const float x = fabs(z.x);
  const float y = fabs(z.y);
  if (isinf(x) || isinf(y)) {
    return INFINITY;
  }
  const float large = x > y ? x : y;
  const float scale = large > 1.0e18f ? 0x1p-70f : large < 1.0e-18f ? 0x1p64f : 1.0f;
  const float2 scaled = float2(x, y) * scale;
  return precise::sqrt(fma(scaled.x, scaled.x, scaled.y * scaled.y)) / scale;
}

inline float2 exp(float2 z) {
  const float e = precise::exp(z.x);
  return z.y == 0 ? float2(e, z.y) : float2(e * precise::cos(z.y), e * precise::sin(z.y));
}
inline float2 exp2(float2 z) {
  return exp(z * M_LN2_F);
}
inline float2 expm1(float2 z) {
  const float half_sine = precise::sin(z.y * 0.5f);
  const float e = ::c10::metal::expm1f(z.x);
  return float2(e * precise::cos(z.y) - 2 * half_sine * half_sine, (e + 1) * precise::sin(z.y));
}

// log |z|, accurate near the unit circle.
inline float log_modulus(float2 z) {
  const float x = max(fabs(z.x), fabs(z.y));
  const float y = min(fabs(z.x), fabs(z.y));
  if (x > 0.5f && x < 2.0f) {
    return 0.5f * ::c10::metal::log1p((x - 1) * (x + 1) + y * y);
  }
  return precise::log(modulus(z));
}
inline float2 log(float2 z) {
  return float2(log_modulus(z), precise::atan2(z.y, z.x));
}
inline float2 log2(float2 z) {
  return log(z) * M_LOG2E_F;
}
inline float2 log10(float2 z) {
  return log(z) * M_LOG10E_F;
}
inline float2 log1p(float2 z) {
  const float grown = fma(z.x, z.x + 2, z.y * z.y);
  const float real = grown > -0.5f && grown < 1 ? 0.5f * ::c10::metal::log1p(grown)
                                                : log_modulus(float2(z.x + 1, z.y));
  return float2(real, precise::atan2(z.y, z.x + 1));
}

inline float2 sqrt(float2 z) {
  if (z.x == 0 && z.y == 0) {
    return float2(0, z.y);
  }
  if (isinf(z.y)) {
    return float2(INFINITY, z.y);
  }
  if (isinf(z.x)) {
    return z.x > 0 ? float2(z.x, isnan(z.y) ? z.y : copysign(0.0f, z.y))
                   : float2(isnan(z.y) ? z.y : 0.0f, copysign(INFINITY, z.y));
  }
  const float large = max(fabs(z.x), fabs(z.y));
  const bool scaled = large > 1.0e37f || large < 1.0e-30f;
  const float factor = large > 1.0f ? 0x1p-4f : 0x1p40f;
  const float2 w = scaled ? z * factor : z;
  const float root = precise::sqrt((modulus(w) + fabs(w.x)) * 0.5f);
  const float other = fabs(w.y) / (2 * root);
  const float2 result =
      w.x >= 0 ? float2(root, copysign(other, w.y)) : float2(other, copysign(root, w.y));
  return scaled ? result * (large > 1.0f ? 4.0f : 0x1p-20f) : result;
}
inline float2 reciprocal(float2 z) {
  return ::c10::metal::div(float2(1, 0), z);
}
inline float2 rsqrt(float2 z) {
  return reciprocal(sqrt(z));
}
inline float2 sigmoid(float2 z) {
  return reciprocal(float2(1, 0) + exp(-z));
}

inline float2 sinh(float2 z) {
  return float2(
      precise::sinh(z.x) * precise::cos(z.y), precise::cosh(z.x) * precise::sin(z.y));
}
inline float2 cosh(float2 z) {
  return float2(
      precise::cosh(z.x) * precise::cos(z.y), precise::sinh(z.x) * precise::sin(z.y));
}
inline float2 tanh(float2 z) {
  if (fabs(z.x) > 10.0f) {
    const float decay = precise::exp(-2 * fabs(z.x));
    return float2(copysign(1.0f, z.x), 4 * precise::sin(z.y) * precise::cos(z.y) * decay);
  }
  const float t = precise::tan(z.y);
  const float secant_squared = 1 + t * t;
  const float s = precise::sinh(z.x);
  const float c = precise::sqrt(1 + s * s);
  const float denominator = 1 + secant_squared * s * s;
  if (isinf(t)) {
    return float2(c / s, 1 / t);
  }
  return float2(secant_squared * c * s / denominator, t / denominator);
}
inline float2 sin(float2 z) {
  return divided_by_i(sinh(times_i(z)));
}
inline float2 cos(float2 z) {
  return cosh(times_i(z));
}
inline float2 tan(float2 z) {
  return divided_by_i(tanh(times_i(z)));
}

inline float2 asinh(float2 z) {
  const float2 a = sqrt(float2(1 + z.y, -z.x));
  const float2 b = sqrt(float2(1 - z.y, z.x));
  const float large = max(fabs(z.x), fabs(z.y));
  if (large > 1.0e4f) {
    const float2 far = log(z.x < 0 ? -z : z) + float2(M_LN2_F, 0);
    return copysign(far, z);
  }
  // Kahan: asinh z = asinh(Re(conj(sqrt(1 - iz)) sqrt(1 + iz))...) + i atan2(y, Re(...)).
  const float x = a.x * b.y - a.y * b.x;
  return float2(
      copysign(::c10::metal::log1p(fabs(x) + x * x / (1 + precise::sqrt(1 + x * x))), x),
      precise::atan2(z.y, a.x * b.x - a.y * b.y));
}
inline float2 asin(float2 z) {
  return divided_by_i(asinh(times_i(z)));
}
inline float2 acos(float2 z) {
  const float large = max(fabs(z.x), fabs(z.y));
  if (large > 1.0e4f) {
    const float2 far = log(z) + float2(M_LN2_F, 0);
    return float2(fabs(precise::atan2(z.y, z.x)), -copysign(far.x, z.y));
  }
  const float2 a = sqrt(float2(1 - z.x, -z.y));
  const float2 b = sqrt(float2(1 + z.x, z.y));
  const float x = b.x * a.y - b.y * a.x;
  return float2(
      2 * precise::atan2(a.x, b.x),
      copysign(::c10::metal::log1p(fabs(x) + x * x / (1 + precise::sqrt(1 + x * x))), x));
}
inline float2 acosh(float2 z) {
  const float2 w = acos(z);
  // acosh z = +-i acos z with a real part that is not negative.
  const float2 turned = signbit(w.y) || isnan(w.y) ? times_i(w) : divided_by_i(w);
  return turned;
}
inline float2 atanh(float2 z) {
  if (max(fabs(z.x), fabs(z.y)) > 1.0e6f) {
    const float2 inverse = reciprocal(z);
    return float2(inverse.x, copysign(M_PI_2_F, z.y));
  }
  const float square = z.y * z.y;
  const float real = 0.25f * ::c10::metal::log1p(4 * fabs(z.x) /
                             ((1 - fabs(z.x)) * (1 - fabs(z.x)) + square));
  return float2(
      copysign(real, z.x),
      0.5f * precise::atan2(2 * z.y, (1 - z.x) * (1 + z.x) - square));
}
inline float2 atan(float2 z) {
  return divided_by_i(atanh(times_i(z)));
}
inline float2 sinc(float2 z) {
  const float2 w = z * M_PI_F;
  return z.x == 0 && z.y == 0 ? float2(1, 0) : ::c10::metal::div(sin(w), w);
}

} // namespace complex

namespace real {

inline float expm1(float x) {
  return ::c10::metal::expm1f(x);
}
inline float log1p(float x) {
  return isinf(x) && x > 0 ? x : ::c10::metal::log1p(x);
}
inline float reciprocal(float x) {
  return 1.0f / x;
}
inline float sigmoid(float x) {
  return 1.0f / (1.0f + precise::exp(-x));
}
inline float sinc(float x) {
  const float w = M_PI_F * x;
  return x == 0 ? 1.0f : precise::sin(w) / w;
}
inline float asinh(float x) {
  const float a = fabs(x);
  if (a > 1.0e6f) {
    return copysign(precise::log(a) + M_LN2_F, x);
  }
  return copysign(log1p(a + a * a / (1 + precise::sqrt(1 + a * a))), x);
}
inline float acosh(float x) {
  if (x > 1.0e6f) {
    return precise::log(x) + M_LN2_F;
  }
  const float t = x - 1;
  return log1p(t + precise::sqrt(t * (x + 1)));
}
inline float atanh(float x) {
  const float a = fabs(x);
  return copysign(0.5f * log1p(2 * a / (1 - a)), x);
}

} // namespace real

#define REAL_FUNCTION(NAME, FUNCTION)                                    \
  struct NAME##_functor {                                                \
    template <typename T>                                                \
    enable_if_t<is_scalar_floating_point_v<T>, T> operator()(T x) {      \
      return T(FUNCTION(float(x)));                                      \
    }                                                                    \
    template <typename T>                                                \
    enable_if_t<is_scalar_integral_v<T>, float> operator()(T x) {        \
      return FUNCTION(float(x));                                         \
    }                                                                    \
    template <typename T>                                                \
    enable_if_t<is_complex_v<T>, T> operator()(T z) {                    \
      return T(::complex::NAME(float2(z)));                              \
    }                                                                    \
  };                                                                     \
  REGISTER_UNARY_OP(NAME, float, float);                                 \
  REGISTER_UNARY_OP(NAME, half, half);                                   \
  REGISTER_UNARY_OP(NAME, bfloat, bfloat);                               \
  REGISTER_UNARY_OP(NAME, long, float);                                  \
  REGISTER_UNARY_OP(NAME, int, float);                                   \
  REGISTER_UNARY_OP(NAME, short, float);                                 \
  REGISTER_UNARY_OP(NAME, char, float);                                  \
  REGISTER_UNARY_OP(NAME, uchar, float);                                 \
  REGISTER_UNARY_OP(NAME, bool, float);                                  \
  REGISTER_UNARY_OP(NAME, float2, float2);                               \
  REGISTER_UNARY_OP(NAME, half2, half2)

REAL_FUNCTION(exp, precise::exp);
REAL_FUNCTION(exp2, precise::exp2);
REAL_FUNCTION(expm1, real::expm1);
REAL_FUNCTION(log, precise::log);
REAL_FUNCTION(log2, precise::log2);
REAL_FUNCTION(log10, precise::log10);
REAL_FUNCTION(log1p, real::log1p);
REAL_FUNCTION(sqrt, precise::sqrt);
REAL_FUNCTION(rsqrt, precise::rsqrt);
REAL_FUNCTION(reciprocal, real::reciprocal);
REAL_FUNCTION(sigmoid, real::sigmoid);
REAL_FUNCTION(sin, precise::sin);
REAL_FUNCTION(cos, precise::cos);
REAL_FUNCTION(tan, precise::tan);
REAL_FUNCTION(asin, precise::asin);
REAL_FUNCTION(acos, precise::acos);
REAL_FUNCTION(atan, precise::atan);
REAL_FUNCTION(sinh, precise::sinh);
REAL_FUNCTION(cosh, precise::cosh);
REAL_FUNCTION(tanh, precise::tanh);
REAL_FUNCTION(asinh, real::asinh);
REAL_FUNCTION(acosh, real::acosh);
REAL_FUNCTION(atanh, real::atanh);
REAL_FUNCTION(sinc, real::sinc);
