// Bitwise operators, shifts, greatest common divisors. A shift by more than the width, or by a
// negative number, gives what PyTorch's other devices give: 0, or the sign for a right shift.
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

struct bitwise_and_functor {
  template <typename T>
  T operator()(T a, T b) {
    return T(a & b);
  }
};
struct bitwise_or_functor {
  template <typename T>
  T operator()(T a, T b) {
    return T(a | b);
  }
};
struct bitwise_xor_functor {
  template <typename T>
  T operator()(T a, T b) {
    return T(a ^ b);
  }
};

struct bitwise_left_shift_functor {
  template <typename T>
  T operator()(T a, T b) {
    using unsigned_t = make_unsigned_t<T>;
    if (b < T(0) || ulong(b) >= sizeof(T) * 8) {
      return T(0);
    }
    return T(unsigned_t(a) << unsigned_t(b));
  }
};
struct bitwise_right_shift_functor {
  template <typename T>
  T operator()(T a, T b) {
    const ulong last = sizeof(T) * 8 - (is_signed_v<T> ? 1 : 0);
    if (b < T(0) || ulong(b) >= last) {
      return is_signed_v<T> ? T(a >> T(sizeof(T) * 8 - 1)) : T(0);
    }
    return T(a >> b);
  }
};

template <typename T>
inline T magnitude(T a) {
  return a < T(0) ? T(-a) : a;
}

template <typename T>
inline T greatest_common_divisor(T a, T b) {
  a = magnitude(a);
  b = magnitude(b);
  while (a != T(0)) {
    const T rest = a == T(-1) ? T(0) : T(b % a);
    b = a;
    a = rest;
  }
  return b;
}

struct gcd_functor {
  template <typename T>
  T operator()(T a, T b) {
    return greatest_common_divisor(a, b);
  }
};
struct lcm_functor {
  template <typename T>
  T operator()(T a, T b) {
    const T divisor = greatest_common_divisor(a, b);
    return divisor == T(0) ? T(0) : magnitude(T((divisor == T(-1) ? T(-a) : T(a / divisor)) * b));
  }
};

#define SAME_TYPE(NAME, TYPE)           \
  REGISTER_BINARY_OP(NAME, TYPE, TYPE); \
  REGISTER_BINARY_CASTOUT_OP(NAME, TYPE, TYPE)
#define INTEGER_TYPES(NAME) \
  SAME_TYPE(NAME, long);    \
  SAME_TYPE(NAME, int);     \
  SAME_TYPE(NAME, short);   \
  SAME_TYPE(NAME, char);    \
  SAME_TYPE(NAME, uchar)

INTEGER_TYPES(bitwise_and);
SAME_TYPE(bitwise_and, bool);
INTEGER_TYPES(bitwise_or);
SAME_TYPE(bitwise_or, bool);
INTEGER_TYPES(bitwise_xor);
SAME_TYPE(bitwise_xor, bool);
INTEGER_TYPES(bitwise_left_shift);
INTEGER_TYPES(bitwise_right_shift);
INTEGER_TYPES(gcd);
INTEGER_TYPES(lcm);

struct bitwise_not_functor {
  template <typename T>
  T operator()(T a) {
    return T(~a);
  }
};
template <>
inline bool bitwise_not_functor::operator()(bool a) {
  return !a;
}
REGISTER_UNARY_OP(bitwise_not, long, long);
REGISTER_UNARY_OP(bitwise_not, int, int);
REGISTER_UNARY_OP(bitwise_not, short, short);
REGISTER_UNARY_OP(bitwise_not, char, char);
REGISTER_UNARY_OP(bitwise_not, uchar, uchar);
REGISTER_UNARY_OP(bitwise_not, bool, bool);
