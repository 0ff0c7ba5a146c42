// Absolute values, signs, rounding, tests for NaN and infinity, conjugates and angles.
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <ATen/native/mps/kernels/UnaryKernel.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

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

// The result of a complex number has the type of its argument: the host takes the real part.
struct abs_functor {
  template <typename T>
  enable_if_t<is_scalar_floating_point_v<T>, T> operator()(T x) {
    return T(fabs(float(x)));
  }
  template <typename T>
  enable_if_t<is_scalar_integral_v<T>, T> operator()(T x) {
    return x < T(0) ? T(-x) : x;
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T z) {
    return T(float2(modulus(float2(z)), 0));
  }
};

struct neg_functor {
  template <typename T>
  T operator()(T x) {
    return T(-x);
  }
};

struct sign_functor {
  template <typename T>
  T operator()(T x) {
    return T((x > T(0)) - (x < T(0)));
  }
};
template <>
inline bool sign_functor::operator()(bool x) {
  return x;
}

struct sgn_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T x) {
    return sign_functor()(x);
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T z) {
    const float length = modulus(float2(z));
    return length == 0 ? T(0) : T(float2(z) / length);
  }
};

struct signbit_functor {
  template <typename T>
  enable_if_t<is_scalar_floating_point_v<T>, bool> operator()(T x) {
    return signbit(float(x));
  }
  template <typename T>
  enable_if_t<is_scalar_integral_v<T>, bool> operator()(T x) {
    return x < T(0);
  }
};

struct angle_functor {
  template <typename T>
  enable_if_t<is_scalar_floating_point_v<T>, T> operator()(T x) {
    return isnan(float(x)) ? x : x < T(0) ? T(M_PI_F) : T(0);
  }
  template <typename T>
  enable_if_t<is_scalar_integral_v<T>, float> operator()(T x) {
    return x < T(0) ? M_PI_F : 0.0f;
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T z) {
    return T(float2(precise::atan2(float(z.y), float(z.x)), 0));
  }
};

struct conj_physical_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T x) {
    return x;
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T z) {
    return T(z.x, -z.y);
  }
};

#define DEFINE_ROUNDING_FUNCTOR(NAME, FUNCTION)                     \
  struct NAME##_functor {                                           \
    template <typename T>                                           \
    enable_if_t<is_scalar_floating_point_v<T>, T> operator()(T x) { \
      return T(FUNCTION(float(x)));                                 \
    }                                                               \
    template <typename T>                                           \
    enable_if_t<is_scalar_integral_v<T>, T> operator()(T x) {       \
      return x;                                                     \
    }                                                               \
  }
inline float fraction(float x) {
  return x - trunc(x);
}
DEFINE_ROUNDING_FUNCTOR(ceil, ::metal::ceil);
DEFINE_ROUNDING_FUNCTOR(floor, ::metal::floor);
DEFINE_ROUNDING_FUNCTOR(trunc, ::metal::trunc);
DEFINE_ROUNDING_FUNCTOR(round, ::metal::rint);
DEFINE_ROUNDING_FUNCTOR(frac, fraction);

// Rounds to a number of decimals, which may be negative.
struct round_decimals_functor {
  template <typename T>
  T operator()(T x, long decimals) {
    const float power = precise::pow(10.0f, float(decimals < 0 ? -decimals : decimals));
    return decimals < 0 ? T(rint(float(x) / power) * power) : T(rint(float(x) * power) / power);
  }
};

struct nan_to_num_functor {
  float replaced(float x, NanToNumParams<float> by) {
    return isnan(x) ? by.nan : isinf(x) ? (x > 0 ? by.posinf : by.neginf) : x;
  }
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T x, NanToNumParams<float> by) {
    return T(replaced(float(x), by));
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T z, NanToNumParams<float> by) {
    return T(float2(replaced(float(z.x), by), replaced(float(z.y), by)));
  }
};

struct logical_not_functor {
  template <typename T>
  bool operator()(T x) {
    return !cast_to<bool>(x);
  }
};

struct isnan_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, bool> operator()(T x) {
    return x != x;
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, bool> operator()(T z) {
    return z.x != z.x || z.y != z.y;
  }
};
struct isposinf_functor {
  template <typename T>
  bool operator()(T x) {
    return float(x) == INFINITY;
  }
};
struct isneginf_functor {
  template <typename T>
  bool operator()(T x) {
    return float(x) == -INFINITY;
  }
};

#define FLOATING_TYPES(NAME)             \
  REGISTER_UNARY_OP(NAME, float, float); \
  REGISTER_UNARY_OP(NAME, half, half);   \
  REGISTER_UNARY_OP(NAME, bfloat, bfloat)
#define INTEGER_TYPES(NAME)              \
  REGISTER_UNARY_OP(NAME, long, long);   \
  REGISTER_UNARY_OP(NAME, int, int);     \
  REGISTER_UNARY_OP(NAME, short, short); \
  REGISTER_UNARY_OP(NAME, char, char);   \
  REGISTER_UNARY_OP(NAME, uchar, uchar)
#define COMPLEX_TYPES(NAME)                \
  REGISTER_UNARY_OP(NAME, float2, float2); \
  REGISTER_UNARY_OP(NAME, half2, half2)
#define FLOATING_TO_BOOL(NAME)           \
  REGISTER_UNARY_OP(NAME, float, bool); \
  REGISTER_UNARY_OP(NAME, half, bool);  \
  REGISTER_UNARY_OP(NAME, bfloat, bool)
#define INTEGERS_TO_BOOL(NAME)           \
  REGISTER_UNARY_OP(NAME, long, bool);  \
  REGISTER_UNARY_OP(NAME, int, bool);   \
  REGISTER_UNARY_OP(NAME, short, bool); \
  REGISTER_UNARY_OP(NAME, char, bool);  \
  REGISTER_UNARY_OP(NAME, uchar, bool)

FLOATING_TYPES(abs);
INTEGER_TYPES(abs);
REGISTER_UNARY_OP(abs, bool, bool);
COMPLEX_TYPES(abs);
FLOATING_TYPES(neg);
INTEGER_TYPES(neg);
COMPLEX_TYPES(neg);
FLOATING_TYPES(sign);
INTEGER_TYPES(sign);
REGISTER_UNARY_OP(sign, bool, bool);
FLOATING_TYPES(sgn);
INTEGER_TYPES(sgn);
REGISTER_UNARY_OP(sgn, bool, bool);
COMPLEX_TYPES(sgn);
FLOATING_TO_BOOL(signbit);
INTEGERS_TO_BOOL(signbit);
FLOATING_TYPES(angle);
COMPLEX_TYPES(angle);
REGISTER_UNARY_OP(angle, long, float);
REGISTER_UNARY_OP(angle, int, float);
REGISTER_UNARY_OP(angle, short, float);
REGISTER_UNARY_OP(angle, char, float);
REGISTER_UNARY_OP(angle, uchar, float);
REGISTER_UNARY_OP(angle, bool, float);
FLOATING_TYPES(conj_physical);
INTEGER_TYPES(conj_physical);
REGISTER_UNARY_OP(conj_physical, bool, bool);
COMPLEX_TYPES(conj_physical);
FLOATING_TYPES(ceil);
INTEGER_TYPES(ceil);
FLOATING_TYPES(floor);
INTEGER_TYPES(floor);
FLOATING_TYPES(trunc);
INTEGER_TYPES(trunc);
FLOATING_TYPES(round);
INTEGER_TYPES(round);
FLOATING_TYPES(frac);
REGISTER_UNARY_ALPHA_OP(round_decimals, float, long, float);
REGISTER_UNARY_ALPHA_OP(round_decimals, half, long, half);
REGISTER_UNARY_ALPHA_OP(round_decimals, bfloat, long, bfloat);
typedef NanToNumParams<float> NanToNumParams_float;
REGISTER_UNARY_ALPHA_OP(nan_to_num, float, NanToNumParams_float, float);
REGISTER_UNARY_ALPHA_OP(nan_to_num, half, NanToNumParams_float, half);
REGISTER_UNARY_ALPHA_OP(nan_to_num, bfloat, NanToNumParams_float, bfloat);
REGISTER_UNARY_ALPHA_OP(nan_to_num, float2, NanToNumParams_float, float2);
REGISTER_UNARY_ALPHA_OP(nan_to_num, half2, NanToNumParams_float, half2);
FLOATING_TO_BOOL(logical_not);
INTEGERS_TO_BOOL(logical_not);
REGISTER_UNARY_OP(logical_not, bool, bool);
REGISTER_UNARY_OP(logical_not, float2, bool);
REGISTER_UNARY_OP(logical_not, half2, bool);
FLOATING_TO_BOOL(isnan);
REGISTER_UNARY_OP(isnan, float2, bool);
REGISTER_UNARY_OP(isnan, half2, bool);
FLOATING_TO_BOOL(isposinf);
FLOATING_TO_BOOL(isneginf);
