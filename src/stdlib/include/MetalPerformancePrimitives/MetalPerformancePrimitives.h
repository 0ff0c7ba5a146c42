// MetalPerformancePrimitives: matrix products on tensors. Convolution is not implemented; using it is an error that
// says so.
#ifndef METALLOID_METAL_PERFORMANCE_PRIMITIVES_H
#define METALLOID_METAL_PERFORMANCE_PRIMITIVES_H

#include <metal_cooperative_tensor>

#include <metalloid/matrix_multiplication.h>

namespace mpp {
namespace tensor_ops {

struct __attribute__((unavailable("Metalloid does not implement mpp::tensor_ops::convolution2d")))
convolution2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  template <typename... Arguments>
  constexpr convolution2d_descriptor(Arguments...) {}
};

}  // namespace tensor_ops
}  // namespace mpp

#endif
