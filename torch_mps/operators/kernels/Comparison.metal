// Comparisons, logical connectives, the larger and the smaller of two. NaN is unequal to everything
// and is what maximum and minimum return; fmax and fmin pass it over.
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

struct eq_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, bool> operator()(T a, T b) {
    return a == b;
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, bool> operator()(T a, T b) {
    return a.x == b.x && a.y == b.y;
  }
};

struct ne_functor {
  template <typename T>
  bool operator()(T a, T b) {
    return !eq_functor()(a, b);
  }
};

DEFINE_BINARY_COMPARISON_FUNCTOR(lt, <);
DEFINE_BINARY_COMPARISON_FUNCTOR(le, <=);
DEFINE_BINARY_COMPARISON_FUNCTOR(gt, >);
DEFINE_BINARY_COMPARISON_FUNCTOR(ge, >=);

template <typename T>
inline bool truth(T value) {
  return cast_to<bool>(value);
}

struct logical_and_functor {
  template <typename T>
  bool operator()(T a, T b) {
    return truth(a) && truth(b);
  }
};
struct logical_or_functor {
  template <typename T>
  bool operator()(T a, T b) {
    return truth(a) || truth(b);
  }
};
struct logical_xor_functor {
  template <typename T>
  bool operator()(T a, T b) {
    return truth(a) != truth(b);
  }
};

struct maximum_functor {
  template <typename T>
  enable_if_t<is_floating_point_v<T>, T> operator()(T a, T b) {
    return isnan(float(a)) ? a : isnan(float(b)) ? b : a > b ? a : b;
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, T> operator()(T a, T b) {
    return a > b ? a : b;
  }
};
struct minimum_functor {
  template <typename T>
  enable_if_t<is_floating_point_v<T>, T> operator()(T a, T b) {
    return isnan(float(a)) ? a : isnan(float(b)) ? b : a < b ? a : b;
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, T> operator()(T a, T b) {
    return a < b ? a : b;
  }
};
struct fmax_functor {
  template <typename T>
  enable_if_t<is_floating_point_v<T>, T> operator()(T a, T b) {
    return isnan(float(a)) ? b : isnan(float(b)) ? a : a > b ? a : b;
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, T> operator()(T a, T b) {
    return a > b ? a : b;
  }
};
struct fmin_functor {
  template <typename T>
  enable_if_t<is_floating_point_v<T>, T> operator()(T a, T b) {
    return isnan(float(a)) ? b : isnan(float(b)) ? a : a < b ? a : b;
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, T> operator()(T a, T b) {
    return a < b ? a : b;
  }
};

struct heaviside_functor {
  template <typename T>
  T operator()(T a, T b) {
    return a == T(0) ? b : T(a > T(0));
  }
};

#define TO_BOOL(NAME, TYPE)             \
  REGISTER_BINARY_OP(NAME, TYPE, bool); \
  REGISTER_BINARY_CASTOUT_OP(NAME, TYPE, bool)
#define REAL_TO_BOOL(NAME) \
  TO_BOOL(NAME, float);    \
  TO_BOOL(NAME, half);     \
  TO_BOOL(NAME, bfloat);   \
  TO_BOOL(NAME, long);     \
  TO_BOOL(NAME, int);      \
  TO_BOOL(NAME, short);    \
  TO_BOOL(NAME, char);     \
  TO_BOOL(NAME, uchar);    \
  TO_BOOL(NAME, bool)
#define COMPLEX_TO_BOOL(NAME) \
  TO_BOOL(NAME, float2);      \
  TO_BOOL(NAME, half2)
#define SAME_TYPE(NAME, TYPE)           \
  REGISTER_BINARY_OP(NAME, TYPE, TYPE); \
  REGISTER_BINARY_CASTOUT_OP(NAME, TYPE, TYPE)
#define REAL_TYPES(NAME)   \
  SAME_TYPE(NAME, float);  \
  SAME_TYPE(NAME, half);   \
  SAME_TYPE(NAME, bfloat); \
  SAME_TYPE(NAME, long);   \
  SAME_TYPE(NAME, int);    \
  SAME_TYPE(NAME, short);  \
  SAME_TYPE(NAME, char);   \
  SAME_TYPE(NAME, uchar);  \
  SAME_TYPE(NAME, bool)

REAL_TO_BOOL(eq);
COMPLEX_TO_BOOL(eq);
REAL_TO_BOOL(ne);
COMPLEX_TO_BOOL(ne);
REAL_TO_BOOL(lt);
REAL_TO_BOOL(le);
REAL_TO_BOOL(gt);
REAL_TO_BOOL(ge);
REAL_TO_BOOL(logical_and);
COMPLEX_TO_BOOL(logical_and);
REAL_TO_BOOL(logical_or);
COMPLEX_TO_BOOL(logical_or);
REAL_TO_BOOL(logical_xor);
COMPLEX_TO_BOOL(logical_xor);
REAL_TYPES(maximum);
REAL_TYPES(minimum);
REAL_TYPES(fmax);
REAL_TYPES(fmin);
REAL_TYPES(heaviside);
