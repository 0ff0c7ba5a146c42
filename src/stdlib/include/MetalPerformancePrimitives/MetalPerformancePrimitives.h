// MetalPerformancePrimitives: matrix products on tensors. Convolutions are declared and not implemented: kernels that
// run one are refused by name, the others of their library run.
#ifndef METALLOID_METAL_PERFORMANCE_PRIMITIVES_H
#define METALLOID_METAL_PERFORMANCE_PRIMITIVES_H

#include <metal_cooperative_tensor>

#include <metalloid/matrix_multiplication.h>

namespace mpp {
namespace tensor_ops {

struct convolution2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  template <typename... Arguments>
  constexpr convolution2d_descriptor(Arguments...) {}
  constexpr operator ulong() const { return 0; }  // as a template's argument: matmul2d_descriptor
};
enum class convolution2d_activation { none, relu };
enum class convolution2d_activation_layout { nhwc };
enum class convolution2d_weights_layout { hwio };

template <typename Element>
struct convolution2d_destination {
  template <typename Tensor>
  void load(Tensor tensor) const;
  template <typename Tensor>
  void store(Tensor tensor) const;
  ushort get_capacity() const;
  bool is_valid_element(ushort index) const;
  thread Element& operator[](ushort index) const;
};

template <ulong Descriptor, typename Scope, typename... Arguments>
class convolution2d {
 public:
  void set_offsets(metal::int2 offsets) const;
  template <typename Activation, typename Weights, typename Element>
  convolution2d_destination<Element> get_destination_cooperative_tensor() const;
  template <typename... Operands>
  void run(Operands... operands) const;
};

}  // namespace tensor_ops
}  // namespace mpp

#endif
