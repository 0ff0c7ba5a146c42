#include "elementwise.h"

#include <ATen/mps/MPSStream.h>

namespace at::native::mps::elementwise {

Encoding::Encoding(MTLComputePipelineState_t pipeline) : Encoding(*at::mps::getCurrentMPSStream(), pipeline) {}

Encoding::Encoding(at::mps::MPSStream& stream, MTLComputePipelineState_t pipeline)
    : turn_(stream.queue()), encoder_(*metalloid::metal::object_of<EncoderObject>(stream.commandEncoder())) {
  encoder_.set_pipeline(metalloid::metal::object_of<metalloid::metal::PipelineObject>(pipeline));
}

void Encoding::bind(unsigned index, TensorIteratorBase& iter, int operand) {
  const at::TensorBase& tensor = iter.tensor_base(operand);
  if (tensor.device().type() == at::kCPU) return metalloid::torch_host::bind_tensor(encoder_, tensor, index);
  // Parts of large iterators begin elsewhere than their tensors.
  const auto* begin = static_cast<const char*>(tensor.storage().data());
  const auto offset = static_cast<const char*>(iter.data_ptr(operand)) - begin;
  metalloid::torch_host::bind_memory(encoder_, tensor, static_cast<std::size_t>(offset), index);
}

void Encoding::bind_all(TensorIteratorBase& iter) {
  for (int i = 0; i < iter.ntensors(); ++i) bind(static_cast<unsigned>(i), iter, i);
}

ScalarType bound_type(TensorIteratorBase& iter, int operand) {
  const at::TensorBase& tensor = iter.tensor_base(operand);
  const ScalarType type = tensor.scalar_type();
  if (tensor.device().type() != at::kCPU) return type;
  if (type == at::kDouble) return at::kFloat;
  return type == at::kComplexDouble ? at::kComplexFloat : type;
}

ScalarType common_type(TensorIteratorBase& iter) {
  ScalarType type = ScalarType::Undefined;
  if (const auto common = iter.maybe_common_dtype()) {
    type = *common;
  } else {
    for (int i = iter.noutputs(); i < iter.ntensors(); ++i) {
      const ScalarType one = bound_type(iter, i);
      type = type == ScalarType::Undefined ? one : c10::promoteTypes(type, one);
    }
  }
  return type;
}

bool has_contiguous_runs(TensorIteratorBase& iter) {
  if (iter.ndim() < 2 || iter.shape()[0] < shortest_run) return false;
  for (int i = 0; i < iter.ntensors(); ++i) {
    if (iter.strides(i)[0] != static_cast<std::int64_t>(iter.element_size(i))) return false;
  }
  return true;
}

std::string_view forced_flavor(const char* variable) {
  const char* flavor = std::getenv(variable);
  return flavor ? flavor : "";
}

}  // namespace at::native::mps::elementwise
