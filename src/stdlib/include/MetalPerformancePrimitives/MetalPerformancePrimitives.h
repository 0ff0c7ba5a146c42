// MetalPerformancePrimitives: tensors and the namespace of its operations. The operations themselves (matmul2d,
// convolution2d) are not implemented; using one is an error that says so.
#ifndef METALLOID_METAL_PERFORMANCE_PRIMITIVES_H
#define METALLOID_METAL_PERFORMANCE_PRIMITIVES_H

#include <metal_tensor>

namespace mpp {
namespace tensor_ops {

#define METALLOID_UNAVAILABLE(name) __attribute__((unavailable("Metalloid does not implement mpp::tensor_ops::" name)))

struct METALLOID_UNAVAILABLE("matmul2d") matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  template <typename... Arguments>
  constexpr matmul2d_descriptor(Arguments...) {}
};
struct METALLOID_UNAVAILABLE("convolution2d") convolution2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  template <typename... Arguments>
  constexpr convolution2d_descriptor(Arguments...) {}
};

#undef METALLOID_UNAVAILABLE

}  // namespace tensor_ops
}  // namespace mpp

#endif
