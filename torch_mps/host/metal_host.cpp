// PyTorch's device as a host of Metal's objects: the addresses of tensors are buffers, errors are PyTorch's.
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <c10/util/Exception.h>
#include <metalloid/metal/host.h>

#include "../device/errors.h"
#include "../device/memory.h"
#include "../device/streams.h"
#include "shader_options.h"
#include "tensors.h"

namespace metalloid::torch_host {
namespace {

std::optional<Buffer> memory_at(const void* address) {
  const auto range = torch_device::allocation_at(address);
  if (!range) return std::nullopt;
  return Buffer::wrap(range->base, range->size);
}

void raise_fault(metal::Fault fault, const std::string& message) {
  switch (fault) {
    case metal::Fault::type: TORCH_CHECK_TYPE(false, message);
    case metal::Fault::value: TORCH_CHECK_VALUE(false, message);
    case metal::Fault::index: TORCH_CHECK_INDEX(false, message);
    case metal::Fault::not_implemented: TORCH_CHECK_NOT_IMPLEMENTED(false, message);
    case metal::Fault::misuse: break;
  }
  TORCH_CHECK(false, message);
}

[[maybe_unused]] const bool is_set = [] {
  metal::set_host({.memory_at = memory_at,
                   .hold_memory = torch_device::hold_off,
                   .complete = use_addressed,
                   .compile_options = compile_options,
                   .raise_fault = raise_fault,
                   .raise_error = torch_device::raise});
  return true;
}();

}  // namespace
}  // namespace metalloid::torch_host

// For Python (metalloid/mps/_plugin/extension.py): how many kernels operators have launched so far.
extern "C" __attribute__((visibility("default"))) std::uint64_t metalloid_torch_launches() {
  return metalloid::metal::launches();
}
