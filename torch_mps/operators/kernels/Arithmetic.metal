// Addition, subtraction, multiplication, division in its rounding modes, remainders.
// Floating point is computed in float; integers wrap around; an integer divided by zero is 0 here
// and never a trap.
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

template <typename T>
constexpr constant bool is_real_v = is_scalar_floating_point_v<T>;

// The quotient and the remainder of integers without the two cases that hardware may trap on.
template <typename T>
inline T truncated_quotient(T a, T b) {
  if (b == T(0)) {
    return T(0);
  }
  if (is_signed_v<T> && b == T(-1)) {
    return T(-a);
  }
  return T(a / b);
}

template <typename T>
inline T truncated_remainder(T a, T b) {
  if (b == T(0) || (is_signed_v<T> && b == T(-1))) {
    return T(0);
  }
  return T(a % b);
}

struct add_functor {
  template <typename T>
  T operator()(T a, T b) {
    return T(a + b);
  }
};
template <>
inline bool add_functor::operator()(bool a, bool b) {
  return a || b;
}

struct sub_functor {
  template <typename T>
  T operator()(T a, T b) {
    return T(a - b);
  }
};

struct add_alpha_functor {
  template <typename T, typename A>
  enable_if_t<!is_complex_v<T>, T> operator()(T a, T b, A alpha) {
    return T(a + alpha * b);
  }
  template <typename T, typename A>
  enable_if_t<is_complex_v<T>, T> operator()(T a, T b, A alpha) {
    return T(A(a) + ::c10::metal::mul(alpha, A(b)));
  }
};
template <>
inline bool add_alpha_functor::operator()(bool a, bool b, bool alpha) {
  return a || (alpha && b);
}

struct sub_alpha_functor {
  template <typename T, typename A>
  enable_if_t<!is_complex_v<T>, T> operator()(T a, T b, A alpha) {
    return T(a - alpha * b);
  }
  template <typename T, typename A>
  enable_if_t<is_complex_v<T>, T> operator()(T a, T b, A alpha) {
    return T(A(a) - ::c10::metal::mul(alpha, A(b)));
  }
};

struct mul_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T a, T b) {
    return T(a * b);
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T a, T b) {
    return ::c10::metal::mul(a, b);
  }
};

struct div_true_functor {
  template <typename T>
  enable_if_t<is_real_v<T>, T> operator()(T a, T b) {
    return T(a / b);
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, float> operator()(T a, T b) {
    return float(a) / float(b);
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T a, T b) {
    return ::c10::metal::div(a, b);
  }
};

struct div_trunc_functor {
  template <typename T>
  enable_if_t<is_real_v<T>, T> operator()(T a, T b) {
    return T(trunc(float(T(a / b))));
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, T> operator()(T a, T b) {
    return truncated_quotient(a, b);
  }
};

struct div_floor_functor {
  template <typename T>
  enable_if_t<is_real_v<T>, T> operator()(T a, T b) {
    return T(::c10::metal::div_floor(float(a), float(b)));
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, T> operator()(T a, T b) {
    const T quotient = truncated_quotient(a, b);
    const bool inexact = truncated_remainder(a, b) != T(0);
    return inexact && (a < T(0)) != (b < T(0)) ? T(quotient - T(1)) : quotient;
  }
};

struct remainder_functor {
  template <typename T>
  enable_if_t<is_real_v<T>, T> operator()(T a, T b) {
    float rest = ::metal::fmod(float(a), float(b));
    if (rest != 0 && (b < 0) != (rest < 0)) {
      rest += float(b);
    }
    return T(rest);
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, T> operator()(T a, T b) {
    const T rest = truncated_remainder(a, b);
    return rest != T(0) && (b < T(0)) != (rest < T(0)) ? T(rest + b) : rest;
  }
};

struct fmod_functor {
  template <typename T>
  enable_if_t<is_real_v<T>, T> operator()(T a, T b) {
    return T(::metal::fmod(float(a), float(b)));
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, T> operator()(T a, T b) {
    return truncated_remainder(a, b);
  }
};

#define FLOATING_TYPES(NAME)                      \
  REGISTER_OPMATH_BINARY_OP(NAME, float, float);  \
  REGISTER_BINARY_CASTOUT_OP(NAME, float, float); \
  REGISTER_OPMATH_BINARY_OP(NAME, half, half);    \
  REGISTER_BINARY_CASTOUT_OP(NAME, half, half);   \
  REGISTER_OPMATH_BINARY_OP(NAME, bfloat, bfloat); \
  REGISTER_BINARY_CASTOUT_OP(NAME, bfloat, bfloat)
#define SAME_TYPE(NAME, TYPE)         \
  REGISTER_BINARY_OP(NAME, TYPE, TYPE);  \
  REGISTER_BINARY_CASTOUT_OP(NAME, TYPE, TYPE)
#define INTEGER_TYPES(NAME)  \
  SAME_TYPE(NAME, long);  \
  SAME_TYPE(NAME, int);   \
  SAME_TYPE(NAME, short); \
  SAME_TYPE(NAME, char);  \
  SAME_TYPE(NAME, uchar)
#define COMPLEX_TYPES(NAME)                          \
  REGISTER_OPMATH_BINARY_OP(NAME, float2, float2);   \
  REGISTER_BINARY_CASTOUT_OP(NAME, float2, float2);  \
  REGISTER_OPMATH_BINARY_OP(NAME, half2, half2);     \
  REGISTER_BINARY_CASTOUT_OP(NAME, half2, half2)
#define INTEGERS_TO_FLOAT(NAME)           \
  REGISTER_BINARY_OP(NAME, long, float);  \
  REGISTER_BINARY_OP(NAME, int, float);   \
  REGISTER_BINARY_OP(NAME, short, float); \
  REGISTER_BINARY_OP(NAME, char, float);  \
  REGISTER_BINARY_OP(NAME, uchar, float); \
  REGISTER_BINARY_OP(NAME, bool, float)
#define ALPHA_TYPES(NAME)                                  \
  REGISTER_BINARY_ALPHA_OP(NAME, float, float, float);     \
  REGISTER_BINARY_ALPHA_OP(NAME, half, float, half);       \
  REGISTER_BINARY_ALPHA_OP(NAME, bfloat, float, bfloat);   \
  REGISTER_BINARY_ALPHA_OP(NAME, long, long, long);        \
  REGISTER_BINARY_ALPHA_OP(NAME, int, int, int);           \
  REGISTER_BINARY_ALPHA_OP(NAME, short, short, short);     \
  REGISTER_BINARY_ALPHA_OP(NAME, char, char, char);        \
  REGISTER_BINARY_ALPHA_OP(NAME, uchar, uchar, uchar);     \
  REGISTER_BINARY_ALPHA_OP(NAME, float2, float2, float2);  \
  REGISTER_BINARY_ALPHA_OP(NAME, half2, float2, half2)

FLOATING_TYPES(add);
INTEGER_TYPES(add);
SAME_TYPE(add, bool);
COMPLEX_TYPES(add);
FLOATING_TYPES(sub);
INTEGER_TYPES(sub);
COMPLEX_TYPES(sub);
ALPHA_TYPES(add_alpha);
REGISTER_BINARY_ALPHA_OP(add_alpha, bool, bool, bool);
ALPHA_TYPES(sub_alpha);
FLOATING_TYPES(mul);
INTEGER_TYPES(mul);
SAME_TYPE(mul, bool);
COMPLEX_TYPES(mul);
FLOATING_TYPES(div_true);
INTEGERS_TO_FLOAT(div_true);
COMPLEX_TYPES(div_true);
// Without more precision than the type has: a quotient that rounds to a whole number is one.
SAME_TYPE(div_trunc, float);
SAME_TYPE(div_trunc, half);
SAME_TYPE(div_trunc, bfloat);
INTEGER_TYPES(div_trunc);
FLOATING_TYPES(div_floor);
INTEGER_TYPES(div_floor);
FLOATING_TYPES(remainder);
INTEGER_TYPES(remainder);
FLOATING_TYPES(fmod);
INTEGER_TYPES(fmod);
