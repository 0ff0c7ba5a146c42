// Functions of two floating-point numbers; integers are computed as float.
#include <c10/metal/igamma.h>
#include <c10/metal/indexing.h>
#include <c10/metal/special_math.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

#define DEFINE_BINARY_FLOAT_FUNCTOR(NAME, FUNCTION)                       \
  struct NAME##_functor {                                                 \
    template <typename T>                                                 \
    enable_if_t<is_scalar_floating_point_v<T>, T> operator()(T a, T b) {  \
      return T(FUNCTION(float(a), float(b)));                             \
    }                                                                     \
    template <typename T>                                                 \
    enable_if_t<is_scalar_integral_v<T>, float> operator()(T a, T b) {    \
      return FUNCTION(float(a), float(b));                                \
    }                                                                     \
  }

// sqrt(a^2 + b^2) without overflow; infinity wins over NaN.
inline float hypotenuse(float a, float b) {
  a = fabs(a);
  b = fabs(b);
  if (isinf(a) || isinf(b)) {
    return INFINITY;
  }
  const float large = a > b ? a : b;
  const float small = a > b ? b : a;
  if (isnan(a) || isnan(b)) {
    return NAN;
  }
  if (large == 0) {
    return 0;
  }
  // Scaled by a power of two, so that the squares are exact enough and stay in range.
  const float scale = large > 1.0e18f ? 0x1p-70f : large < 1.0e-18f ? 0x1p64f : 1.0f;
  const float x = large * scale;
  const float y = small * scale;
  return precise::sqrt(fma(x, x, y * y)) / scale;
}

// x log y, 0 where x is 0 (NaN where y is NaN).
inline float x_log_y(float x, float y) {
  return isnan(y) ? NAN : x == 0 ? 0.0f : x * precise::log(y);
}
inline float x_log1p_y(float x, float y) {
  return isnan(y) ? NAN : x == 0 ? 0.0f : x * ::c10::metal::log1p(y);
}

inline float log_of_sum(float a, float b) {
  if (isinf(a) && a == b) {
    return a;
  }
  const float larger = a > b || isnan(a) ? a : b;
  return larger + ::c10::metal::log1p(precise::exp(-fabs(a - b)));
}
inline float log2_of_sum(float a, float b) {
  if (isinf(a) && a == b) {
    return a;
  }
  const float larger = a > b || isnan(a) ? a : b;
  return larger + ::c10::metal::log1p(precise::exp2(-fabs(a - b))) * M_LOG2E_F;
}

inline float with_sign_of(float a, float b) {
  return copysign(a, b);
}

DEFINE_BINARY_FLOAT_FUNCTOR(atan2, precise::atan2);
DEFINE_BINARY_FLOAT_FUNCTOR(copysign, with_sign_of);
DEFINE_BINARY_FLOAT_FUNCTOR(hypot, hypotenuse);
DEFINE_BINARY_FLOAT_FUNCTOR(xlogy, x_log_y);
DEFINE_BINARY_FLOAT_FUNCTOR(xlog1py, x_log1p_y);
DEFINE_BINARY_FLOAT_FUNCTOR(zeta, ::c10::metal::zeta);
DEFINE_BINARY_FLOAT_FUNCTOR(igamma, ::c10::metal::igamma);
DEFINE_BINARY_FLOAT_FUNCTOR(igammac, ::c10::metal::igammac);

struct logaddexp_functor {
  template <typename T>
  enable_if_t<is_scalar_floating_point_v<T>, T> operator()(T a, T b) {
    return T(log_of_sum(float(a), float(b)));
  }
  template <typename T>
  enable_if_t<is_scalar_integral_v<T>, float> operator()(T a, T b) {
    return log_of_sum(float(a), float(b));
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T a, T b) {
    return T(::c10::metal::logaddexp(float2(a), float2(b)));
  }
};
DEFINE_BINARY_FLOAT_FUNCTOR(logaddexp2, log2_of_sum);

// The neighbour of a in b's direction: one step of the bit pattern, which orders as its numbers do.
template <typename T, typename bits_t>
inline T neighbour(T a, T b) {
  if (isnan(float(a)) || isnan(float(b))) {
    return T(NAN);
  }
  if (a == b) {
    return b;
  }
  const bits_t sign = bits_t(1) << bits_t(sizeof(T) * 8 - 1);
  if (a == T(0)) {
    return as_type<T>(bits_t(b < T(0) ? sign + 1 : 1));
  }
  const bits_t bits = as_type<bits_t>(a);
  return as_type<T>(bits_t((a < b) == (a > T(0)) ? bits + 1 : bits - 1));
}

struct nextafter_functor {
  float operator()(float a, float b) {
    return neighbour<float, uint>(a, b);
  }
  half operator()(half a, half b) {
    return neighbour<half, ushort>(a, b);
  }
  bfloat operator()(bfloat a, bfloat b) {
    return neighbour<bfloat, ushort>(a, b);
  }
};

#define FLOATING_TYPES(NAME)                       \
  REGISTER_OPMATH_BINARY_OP(NAME, float, float);   \
  REGISTER_BINARY_CASTOUT_OP(NAME, float, float);  \
  REGISTER_OPMATH_BINARY_OP(NAME, half, half);     \
  REGISTER_BINARY_CASTOUT_OP(NAME, half, half);    \
  REGISTER_OPMATH_BINARY_OP(NAME, bfloat, bfloat); \
  REGISTER_BINARY_CASTOUT_OP(NAME, bfloat, bfloat)
#define INTEGERS_TO_FLOAT(NAME)           \
  REGISTER_BINARY_OP(NAME, long, float);  \
  REGISTER_BINARY_OP(NAME, int, float);   \
  REGISTER_BINARY_OP(NAME, short, float); \
  REGISTER_BINARY_OP(NAME, char, float);  \
  REGISTER_BINARY_OP(NAME, uchar, float); \
  REGISTER_BINARY_OP(NAME, bool, float)

FLOATING_TYPES(atan2);
INTEGERS_TO_FLOAT(atan2);
FLOATING_TYPES(copysign);
INTEGERS_TO_FLOAT(copysign);
FLOATING_TYPES(hypot);
FLOATING_TYPES(xlogy);
INTEGERS_TO_FLOAT(xlogy);
FLOATING_TYPES(xlog1py);
INTEGERS_TO_FLOAT(xlog1py);
FLOATING_TYPES(zeta);
INTEGERS_TO_FLOAT(zeta);
FLOATING_TYPES(igamma);
FLOATING_TYPES(igammac);
FLOATING_TYPES(logaddexp);
INTEGERS_TO_FLOAT(logaddexp);
REGISTER_BINARY_OP(logaddexp, float2, float2);
REGISTER_BINARY_OP(logaddexp, half2, half2);
FLOATING_TYPES(logaddexp2);
INTEGERS_TO_FLOAT(logaddexp2);
REGISTER_BINARY_OP(nextafter, float, float);
REGISTER_BINARY_OP(nextafter, half, half);
REGISTER_BINARY_OP(nextafter, bfloat, bfloat);

// Two real numbers to one complex number.
struct make_complex_functor {
  float2 operator()(float a, float b) {
    return float2(a, b);
  }
  half2 operator()(half a, half b) {
    return half2(a, b);
  }
};
struct polar_functor {
  float2 operator()(float magnitude, float angle) {
    return float2(magnitude * precise::cos(angle), magnitude * precise::sin(angle));
  }
  half2 operator()(half magnitude, half angle) {
    return half2((*this)(float(magnitude), float(angle)));
  }
};
REGISTER_BINARY_OP(make_complex, float, float2);
REGISTER_BINARY_OP(make_complex, half, half2);
REGISTER_BINARY_OP(polar, float, float2);
REGISTER_BINARY_OP(polar, half, half2);
