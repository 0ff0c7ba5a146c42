// MetalPerformancePrimitives: matrix products on tensors. Convolution is not implemented; using it is an error that
// says so.
#ifndef METALLOID_METAL_PERFORMANCE_PRIMITIVES_H
#define METALLOID_METAL_PERFORMANCE_PRIMITIVES_H

#include <metal_cooperative_tensor>

#include <metalloid/matrix_multiplication.h>

namespace mpp {
namespace tensor_ops {

#define METALLOID_NO_CONVOLUTION __attribute__((unavailable("convolution2d is not supported by Metalloid")))
struct METALLOID_NO_CONVOLUTION convolution2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  template <typename... Arguments>
  constexpr convolution2d_descriptor(Arguments...) {}
};
enum class METALLOID_NO_CONVOLUTION convolution2d_activation { none, relu };
template <auto descriptor, typename Scope, typename... Arguments>
class METALLOID_NO_CONVOLUTION convolution2d {};
#undef METALLOID_NO_CONVOLUTION

}  // namespace tensor_ops
}  // namespace mpp

#endif
