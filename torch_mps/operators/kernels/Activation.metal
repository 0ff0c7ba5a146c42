// Activation functions and their derivatives, computed in float. A derivative takes the gradient of
// the result and what it was computed from.
#include <ATen/native/mps/kernels/Activation.h>
#include <c10/metal/expm1f.h>
#include <c10/metal/indexing.h>
#include <c10/metal/special_math.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

inline float logistic(float x) {
  return 1.0f / (1.0f + precise::exp(-x));
}
// log(1 + e^x) without overflow.
inline float log1p_exp(float x) {
  return (x > 0 ? x : 0.0f) + c10::metal::log1p(precise::exp(-fabs(x)));
}

// The error function within 4e-7, which is what is left of more where 1 is added: a quotient of polynomials, the best one
// up to 4, beyond which it is 1.
inline float error_function(float x) {
  const float size = ::metal::min(fabs(x), 4.0f);
  const float square = size * size;
  float above = 1.986776396734058e-06f, below = 3.742012631846592e-05f;
  above = fma(above, square, 0.0002845661365427077f);
  below = fma(below, square, 0.0011855755001306534f);
  above = fma(above, square, 0.0038833634462207556f);
  below = fma(below, square, 0.015207289718091488f);
  above = fma(above, square, 0.0531018041074276f);
  below = fma(below, square, 0.11535019427537918f);
  above = fma(above, square, 0.19354555010795593f);
  below = fma(below, square, 0.5048578381538391f);
  above = fma(above, square, 1.1283791065216064f);
  below = fma(below, square, 1.0f);
  const float value = ::metal::min(size * above / below, 1.0f);
  return copysign(size > 3.92f ? 1.0f : value, x);
}

struct gelu_none_functor {
  template <typename T>
  T operator()(T x) {
    const float v = float(x);
    return T(0.5f * v * (1.0f + error_function(v * M_SQRT1_2_F)));
  }
};
struct gelu_tanh_functor {
  template <typename T>
  T operator()(T x) {
    const float v = float(x);
    const float inner = M_SQRT2_F * M_2_SQRTPI_F * 0.5f * (v + 0.044715f * v * v * v);
    return T(0.5f * v * (1.0f + precise::tanh(inner)));
  }
};
struct gelu_none_backward_functor {
  template <typename T>
  T operator()(T grad, T x) {
    const float v = float(x);
    const float distribution = 0.5f * (1.0f + error_function(v * M_SQRT1_2_F));
    const float density = precise::exp(-0.5f * v * v) * M_2_SQRTPI_F * M_SQRT1_2_F * 0.5f;
    return T(float(grad) * (distribution + v * density));
  }
};
struct gelu_tanh_backward_functor {
  template <typename T>
  T operator()(T grad, T x) {
    const float v = float(x);
    const float beta = M_SQRT2_F * M_2_SQRTPI_F * 0.5f;
    const float t = precise::tanh(beta * (v + 0.044715f * v * v * v));
    const float slope = (1.0f - t * t) * beta * (1.0f + 3.0f * 0.044715f * v * v);
    return T(float(grad) * 0.5f * (1.0f + t + v * slope));
  }
};

struct silu_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T x) {
    return T(float(x) / (1.0f + precise::exp(-float(x))));
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T z) {
    const float2 v = float2(z);
    const float e = precise::exp(-v.x);
    return T(c10::metal::div(v, float2(1 + e * precise::cos(v.y), -e * precise::sin(v.y))));
  }
};
struct silu_backward_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T grad, T x) {
    const float s = logistic(float(x));
    return T(float(grad) * s * (1.0f + float(x) * (1.0f - s)));
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T grad, T z) {
    const float2 v = float2(z);
    const float e = precise::exp(-v.x);
    const float2 one = float2(1, 0);
    const float2 s = c10::metal::div(one, float2(1 + e * precise::cos(v.y), -e * precise::sin(v.y)));
    const float2 slope = mul(s, one + mul(v, one - s));
    return T(mul(float2(grad), c10::metal::conj(slope)));
  }
};

struct mish_functor {
  template <typename T>
  T operator()(T x) {
    return T(float(x) * precise::tanh(log1p_exp(float(x))));
  }
};
struct mish_backward_functor {
  template <typename T>
  T operator()(T grad, T x) {
    const float v = float(x);
    const float t = precise::tanh(log1p_exp(v));
    return T(float(grad) * (t + v * logistic(v) * (1.0f - t * t)));
  }
};

struct hardswish_functor {
  template <typename T>
  T operator()(T x) {
    const float v = float(x);
    return T(v * ::metal::min(::metal::max(v + 3.0f, 0.0f), 6.0f) / 6.0f);
  }
};
struct hardswish_backward_functor {
  template <typename T>
  T operator()(T grad, T x) {
    const float v = float(x);
    const float g = float(grad);
    return T(v <= -3.0f ? 0.0f : v < 3.0f ? g * (v / 3.0f + 0.5f) : g);
  }
};
struct hardsigmoid_functor {
  template <typename T>
  T operator()(T x) {
    const float v = float(x) + 3.0f;
    return T(isnan(v) ? v : ::metal::min(::metal::max(v, 0.0f), 6.0f) / 6.0f);
  }
};
struct hardsigmoid_backward_functor {
  template <typename T>
  T operator()(T grad, T x) {
    const float v = float(x);
    return v > -3.0f && v < 3.0f ? T(float(grad) / 6.0f) : T(0);
  }
};

struct hardshrink_functor {
  template <typename T>
  T operator()(T x, float lambda) {
    return float(x) >= -lambda && float(x) <= lambda ? T(0) : x;
  }
};
struct softshrink_functor {
  template <typename T>
  T operator()(T x, float lambda) {
    const float v = float(x);
    return v > lambda ? T(v - lambda) : v < -lambda ? T(v + lambda) : T(v * 0.0f);
  }
};
struct shrink_backward_functor {
  template <typename T>
  T operator()(T grad, T x, float lambda) {
    return float(x) >= -lambda && float(x) <= lambda ? T(0) : grad;
  }
};

struct leaky_relu_functor {
  template <typename T>
  T operator()(T x, float slope) {
    return float(x) > 0 ? x : T(float(x) * slope);
  }
};
struct leaky_relu_backward_functor {
  template <typename T>
  T operator()(T x, T grad, float slope) {
    return float(x) > 0 ? grad : T(float(grad) * slope);
  }
};

struct elu_functor {
  template <typename T>
  T operator()(T x, ELUParams<float> p) {
    const float v = float(x);
    return T(v < 0 ? c10::metal::expm1f(v * p.input_scale) * p.alpha * p.scale : v * p.scale);
  }
};
struct elu_backward_functor {
  template <typename T>
  T operator()(T grad, T x, ELUBackwardParams<float> p) {
    const float v = float(x);
    const float negative = p.alpha * p.scale;
    const float slope = v > 0         ? p.scale
                        : p.is_result ? p.input_scale * (v + negative)
                                      : p.input_scale * negative * precise::exp(v * p.input_scale);
    return T(float(grad) * slope);
  }
};

struct softplus_functor {
  template <typename T>
  T operator()(T x, SoftplusParams p) {
    const float v = float(x) * p.beta;
    return v > p.threshold ? x : T(c10::metal::log1p(precise::exp(v)) / p.beta);
  }
};
struct softplus_backward_functor {
  template <typename T>
  T operator()(T grad, T x, SoftplusParams p) {
    const float v = float(x) * p.beta;
    return v > p.threshold ? grad : T(float(grad) * logistic(v));
  }
};

struct log_sigmoid_functor {
  template <typename T>
  T operator()(T x) {
    return T(-log1p_exp(-float(x)));
  }
};
struct log_sigmoid_backward_functor {
  template <typename T>
  T operator()(T grad, T x) {
    return T(float(grad) * logistic(-float(x)));
  }
};

// Derivatives of functions whose result is at hand.
struct sigmoid_backward_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T grad, T y) {
    return T(grad * (T(1) - y) * y);
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T grad, T y) {
    return mul(grad, c10::metal::conj(mul(T(1, 0) - y, y)));
  }
};
struct tanh_backward_functor {
  template <typename T>
  enable_if_t<!is_complex_v<T>, T> operator()(T grad, T y) {
    return T(grad * (T(1) - y * y));
  }
  template <typename T>
  enable_if_t<is_complex_v<T>, T> operator()(T grad, T y) {
    return mul(grad, c10::metal::conj(T(1, 0) - mul(y, y)));
  }
};

// eps below 0: the argument is taken as it is, and lies outside of the domain where it does.
struct logit_functor {
  template <typename T>
  enable_if_t<is_floating_point_v<T>, T> operator()(T x, float eps) {
    float v = float(x);
    v = eps < 0 ? v : v < eps ? eps : v > 1.0f - eps ? 1.0f - eps : v;
    return T(v == 1.0f ? INFINITY : precise::log(v / (1.0f - v)));
  }
  template <typename T>
  enable_if_t<is_integral_v<T>, float> operator()(T x, float eps) {
    return (*this)(float(x), eps);
  }
};
struct logit_backward_functor {
  template <typename T>
  T operator()(T grad, T x, float eps) {
    const float v = float(x);
    if (eps < 0 ? (v < 0 || v > 1) : (v < eps || v > 1.0f - eps)) {
      return eps < 0 ? T(NAN) : T(0);
    }
    return v == 0 || v == 1 ? T(float(grad) * INFINITY) : T(float(grad) / (v * (1.0f - v)));
  }
};

struct ThresholdParams {
  float threshold;
  float value;
};
struct ThresholdIntegerParams {
  long threshold;
  long value;
};
struct threshold_functor {
  template <typename T>
  T operator()(T x, T other, ThresholdParams p) {
    return float(x) <= p.threshold ? T(p.value) : other;
  }
  template <typename T>
  T operator()(T x, T other, ThresholdIntegerParams p) {
    return long(x) <= p.threshold ? T(p.value) : other;
  }
};
struct hardtanh_backward_functor {
  template <typename T>
  T operator()(T grad, T x, ThresholdParams limits) {
    return float(x) <= limits.threshold || float(x) >= limits.value ? T(0) : grad;
  }
};

struct glu_functor {
  template <typename T>
  T operator()(T a, T b) {
    return T(float(a) * logistic(float(b)));
  }
};
// The gate's derivative; sigma is its logistic function.
struct glu_backward_functor {
  template <typename T>
  T operator()(T sigma, T a, T grad) {
    return T((T(1) - sigma) * sigma * a * grad);
  }
};
struct prelu_functor {
  template <typename T>
  T operator()(T x, T weight) {
    return T(x > T(0) ? x : weight * x);
  }
};

#define UNARY(NAME)                      \
  REGISTER_UNARY_OP(NAME, float, float); \
  REGISTER_UNARY_OP(NAME, half, half);   \
  REGISTER_UNARY_OP(NAME, bfloat, bfloat)
#define UNARY_WITH(NAME, PARAMETERS)                         \
  REGISTER_UNARY_ALPHA_OP(NAME, float, PARAMETERS, float);   \
  REGISTER_UNARY_ALPHA_OP(NAME, half, PARAMETERS, half);     \
  REGISTER_UNARY_ALPHA_OP(NAME, bfloat, PARAMETERS, bfloat)
#define BINARY(NAME)                             \
  REGISTER_OPMATH_BINARY_OP(NAME, float, float); \
  REGISTER_OPMATH_BINARY_OP(NAME, half, half);   \
  REGISTER_OPMATH_BINARY_OP(NAME, bfloat, bfloat)
#define BINARY_WITH(NAME, PARAMETERS)                        \
  REGISTER_BINARY_ALPHA_OP(NAME, float, PARAMETERS, float);  \
  REGISTER_BINARY_ALPHA_OP(NAME, half, PARAMETERS, half);    \
  REGISTER_BINARY_ALPHA_OP(NAME, bfloat, PARAMETERS, bfloat)

typedef ELUParams<float> ELUParams_float;
typedef ELUBackwardParams<float> ELUBackwardParams_float;

UNARY(gelu_none);
UNARY(gelu_tanh);
BINARY(gelu_none_backward);
BINARY(gelu_tanh_backward);
UNARY(silu);
REGISTER_UNARY_OP(silu, float2, float2);
BINARY(silu_backward);
REGISTER_BINARY_OP(silu_backward, float2, float2);
UNARY(mish);
BINARY(mish_backward);
UNARY(hardswish);
BINARY(hardswish_backward);
UNARY(hardsigmoid);
BINARY(hardsigmoid_backward);
UNARY_WITH(hardshrink, float);
UNARY_WITH(softshrink, float);
BINARY_WITH(shrink_backward, float);
UNARY_WITH(leaky_relu, float);
BINARY_WITH(leaky_relu_backward, float);
UNARY_WITH(elu, ELUParams_float);
BINARY_WITH(elu_backward, ELUBackwardParams_float);
UNARY_WITH(softplus, SoftplusParams);
BINARY_WITH(softplus_backward, SoftplusParams);
UNARY(log_sigmoid);
BINARY(log_sigmoid_backward);
BINARY(sigmoid_backward);
REGISTER_OPMATH_BINARY_OP(sigmoid_backward, float2, float2);
REGISTER_OPMATH_BINARY_OP(sigmoid_backward, half2, half2);
BINARY(tanh_backward);
REGISTER_OPMATH_BINARY_OP(tanh_backward, float2, float2);
REGISTER_OPMATH_BINARY_OP(tanh_backward, half2, half2);
UNARY_WITH(logit, float);
REGISTER_UNARY_ALPHA_OP(logit, long, float, float);
REGISTER_UNARY_ALPHA_OP(logit, int, float, float);
REGISTER_UNARY_ALPHA_OP(logit, short, float, float);
REGISTER_UNARY_ALPHA_OP(logit, char, float, float);
REGISTER_UNARY_ALPHA_OP(logit, uchar, float, float);
REGISTER_UNARY_ALPHA_OP(logit, bool, float, float);
BINARY_WITH(logit_backward, float);
BINARY_WITH(threshold, ThresholdParams);
REGISTER_BINARY_ALPHA_OP(threshold, long, ThresholdIntegerParams, long);
REGISTER_BINARY_ALPHA_OP(threshold, int, ThresholdIntegerParams, int);
REGISTER_BINARY_ALPHA_OP(threshold, short, ThresholdIntegerParams, short);
REGISTER_BINARY_ALPHA_OP(threshold, char, ThresholdIntegerParams, char);
REGISTER_BINARY_ALPHA_OP(threshold, uchar, ThresholdIntegerParams, uchar);
BINARY_WITH(hardtanh_backward, ThresholdParams);
BINARY(glu);

BINARY(prelu);
REGISTER_OPMATH_TERNARY_OP(glu_backward, float, float);
REGISTER_OPMATH_TERNARY_OP(glu_backward, half, half);
REGISTER_OPMATH_TERNARY_OP(glu_backward, bfloat, bfloat);

// Both derivatives of prelu; that of the weight is summed by the caller.
template <typename T>
kernel void prelu_backward(
    device void* grad_self [[buffer(0)]],
    device void* grad_weight [[buffer(1)]],
    constant void* self [[buffer(2)]],
    constant void* weight [[buffer(3)]],
    constant void* grad [[buffer(4)]],
    constant long* sizes [[buffer(5)]],
    constant long* strides [[buffer(6)]],
    constant uint& ndim [[buffer(7)]],
    uint index [[thread_position_in_grid]]) {
  int position[max_ndim];
  pos_from_thread_index(int(index), position, sizes, ndim);
  const auto offset = [&](uint operand) {
    return offset_from_coord(position, strides + operand * ndim, ndim);
  };
  const float x = float(val_at_offs<T>(self, offset(2)));
  const float slope = float(val_at_offs<T>(weight, offset(3)));
  const float g = float(val_at_offs<T>(grad, offset(4)));
  ref_at_offs<T>(grad_self, offset(0)) = T(x > 0 ? g : slope * g);
  ref_at_offs<T>(grad_weight, offset(1)) = T(x > 0 ? 0.0f : x * g);
}
#define PRELU_BACKWARD(TYPE)                                                                     \
  template [[host_name("prelu_backward_" #TYPE)]] kernel void prelu_backward<TYPE>(              \
      device void*, device void*, constant void*, constant void*, constant void*, constant long*, \
      constant long*, constant uint&, uint)
PRELU_BACKWARD(float);
PRELU_BACKWARD(half);
PRELU_BACKWARD(bfloat);
