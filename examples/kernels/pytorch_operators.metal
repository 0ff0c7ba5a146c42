// Operators as PyTorch's Metal back end has them: what an operator computes is a functor, and macros of c10/metal make
// the kernels for it, which walk over contiguous and strided memory. Such a file becomes part of PyTorch as it is.
//
//   metalloid run examples/kernels/pytorch_operators.metal --kernel softplus_dense_scalar_float_float
//       --threads 1000 --group 256 --arg 0=f32[1000]=zeros --arg 1=f32[1000]=normal
#include <c10/metal/error.h>
#include <c10/metal/indexing.h>
#include <c10/metal/special_math.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

// log(1 + exp(x)), written so that exp cannot overflow and log1p keeps the digits of a small exp. Integers give floats.
struct softplus_functor {
  template <typename T, enable_if_t<is_scalar_floating_point_v<T>, bool> = true>
  inline T operator()(const T x) {
    const float value = float(x);
    return static_cast<T>(::metal::max(value, 0.0f) + c10::metal::log1p(precise::exp(-::metal::abs(value))));
  }
  template <typename T, enable_if_t<is_scalar_integral_v<T>, bool> = true>
  inline float operator()(const T x) {
    return (*this)(float(x));
  }
};

REGISTER_UNARY_OP(softplus, float, float);
REGISTER_UNARY_OP(softplus, half, half);
REGISTER_UNARY_OP(softplus, bfloat, bfloat);
REGISTER_UNARY_OP(softplus, int, float);

// log(exp(a) + exp(b))
struct logaddexp_functor {
  template <typename T>
  inline T operator()(const T a, const T b) {
    return c10::metal::logaddexp(a, b);
  }
};

REGISTER_BINARY_OP(logaddexp, float, float);
REGISTER_BINARY_OP(logaddexp, half, half);

// a + alpha * b
struct add_scaled_functor {
  template <typename T>
  inline T operator()(const T a, const T b, const T alpha) {
    return a + c10::metal::mul(alpha, b);
  }
};

REGISTER_BINARY_ALPHA_OP(add_scaled, float, float, float);

// self[indices[i]] = values[i]. A kernel cannot throw: it leaves a message, which the host raises when it next waits,
// and skips the element, so that nothing else is overwritten.
kernel void index_set(device float* self [[buffer(0)]],
                      device const float* values [[buffer(1)]],
                      device const long* indices [[buffer(2)]],
                      constant uint& size [[buffer(3)]],  // of self
                      device ErrorMessages* errors [[buffer(4)]],
                      uint i [[thread_position_in_grid]]) {
  const long index = indices[i];
  if (index < 0 || index >= long(size)) {
    TORCH_REPORT_ERROR(errors, "index ", index, " is out of bounds for size ", size);
    return;
  }
  self[index] = values[i];
}
