// Copies between layouts and types, with the conjugate and the negative of lazy views.
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

struct copy_identity_functor {
  template <typename T>
  T operator()(T x) {
    return x;
  }
};
struct copy_neg_functor {
  template <typename T>
  T operator()(T x) {
    return T(-x);
  }
};
struct copy_conj_functor {
  template <typename T>
  T operator()(T z) {
    return T(z.x, -z.y);
  }
};
struct copy_conj_neg_functor {
  template <typename T>
  T operator()(T z) {
    return T(-z.x, z.y);
  }
};

#define EVERY_TYPE(NAME)                   \
  REGISTER_UNARY_OP(NAME, float, float);   \
  REGISTER_UNARY_OP(NAME, half, half);     \
  REGISTER_UNARY_OP(NAME, bfloat, bfloat); \
  REGISTER_UNARY_OP(NAME, long, long);     \
  REGISTER_UNARY_OP(NAME, int, int);       \
  REGISTER_UNARY_OP(NAME, short, short);   \
  REGISTER_UNARY_OP(NAME, char, char);     \
  REGISTER_UNARY_OP(NAME, uchar, uchar);   \
  REGISTER_UNARY_OP(NAME, float2, float2); \
  REGISTER_UNARY_OP(NAME, half2, half2)

EVERY_TYPE(copy_identity);
REGISTER_UNARY_OP(copy_identity, bool, bool);
REGISTER_UNARY_OP(copy_identity, ushort, ushort);
REGISTER_UNARY_OP(copy_identity, uint, uint);
REGISTER_UNARY_OP(copy_identity, ulong, ulong);
EVERY_TYPE(copy_neg);
REGISTER_UNARY_OP(copy_conj, float2, float2);
REGISTER_UNARY_OP(copy_conj, half2, half2);
REGISTER_UNARY_OP(copy_conj_neg, float2, float2);
REGISTER_UNARY_OP(copy_conj_neg, half2, half2);
