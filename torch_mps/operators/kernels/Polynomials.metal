// Orthogonal polynomials of x in the degree n.
#include <c10/metal/indexing.h>
#include <c10/metal/special_math.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;

// Bonnet's recurrence.
inline float legendre_polynomial_p_forward(float x, long n) {
  if (n < 0) {
    return 0;
  }
  if (fabs(x) == 1.0f) {
    return x > 0 || n % 2 == 0 ? 1.0f : -1.0f;
  }
  if (n == 0) {
    return 1;
  }
  float before = 1;
  float last = x;
  for (long k = 1; k < n && !isnan(last); ++k) {
    const float next = ((k + k + 1) * x * last - k * before) / (k + 1);
    before = last;
    last = next;
  }
  return last;
}

#define POLYNOMIAL(NAME, FUNCTION)                                      \
  struct NAME##_functor {                                               \
    template <typename T>                                               \
    enable_if_t<is_floating_point_v<T>, T> operator()(T x, T n) {       \
      return T(FUNCTION(float(x), long(n)));                            \
    }                                                                   \
    template <typename T>                                               \
    enable_if_t<is_integral_v<T>, float> operator()(T x, T n) {         \
      return FUNCTION(float(x), long(n));                               \
    }                                                                   \
  };                                                                    \
  REGISTER_OPMATH_BINARY_OP(NAME, float, float);                        \
  REGISTER_OPMATH_BINARY_OP(NAME, half, half);                          \
  REGISTER_OPMATH_BINARY_OP(NAME, bfloat, bfloat);                      \
  REGISTER_BINARY_OP(NAME, long, float);                                \
  REGISTER_BINARY_OP(NAME, int, float);                                 \
  REGISTER_BINARY_OP(NAME, short, float);                               \
  REGISTER_BINARY_OP(NAME, char, float);                                \
  REGISTER_BINARY_OP(NAME, uchar, float);                               \
  REGISTER_BINARY_OP(NAME, bool, float);                                \
  REGISTER_BINARY_CASTOUT_OP(NAME, float, float)
#define HEADER_POLYNOMIAL(NAME) POLYNOMIAL(NAME, c10::metal::NAME##_forward)

HEADER_POLYNOMIAL(chebyshev_polynomial_t);
HEADER_POLYNOMIAL(chebyshev_polynomial_u);
HEADER_POLYNOMIAL(chebyshev_polynomial_v);
HEADER_POLYNOMIAL(chebyshev_polynomial_w);
HEADER_POLYNOMIAL(shifted_chebyshev_polynomial_t);
HEADER_POLYNOMIAL(shifted_chebyshev_polynomial_u);
HEADER_POLYNOMIAL(shifted_chebyshev_polynomial_v);
HEADER_POLYNOMIAL(shifted_chebyshev_polynomial_w);
HEADER_POLYNOMIAL(hermite_polynomial_h);
HEADER_POLYNOMIAL(hermite_polynomial_he);
HEADER_POLYNOMIAL(laguerre_polynomial_l);
POLYNOMIAL(legendre_polynomial_p, legendre_polynomial_p_forward);
