// MetalKernelFunction: one kernel with the arguments of its next dispatch.
#include <ATen/core/TensorBase.h>
#include <ATen/mps/MPSStream.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

#include <dispatch/dispatch.h>
#include <metalloid/metal/objects.h>
#include "tensors.h"

namespace at::native::mps {
namespace {

using metalloid::metal::EncoderObject;
using metalloid::metal::object_of;
using metalloid::metal::PipelineObject;

// What startEncoding() found. Not the member of PyTorch's class: threads with streams of their own use one kernel's
// object.
thread_local EncoderObject* encoder_of_thread = nullptr;

EncoderObject& encoding() {
  TORCH_CHECK(encoder_of_thread, "startEncoding() comes before arguments and dispatches");
  return *encoder_of_thread;
}

}  // namespace

void* get_tensor_gpu_address(const at::TensorBase& tensor) { return metalloid::torch_host::addressed(tensor); }

MetalKernelFunction::MetalKernelFunction(MTLComputePipelineState_t cps_, MTLFunction_t f_)
    : cps(metalloid::metal::retain(object_of<PipelineObject>(cps_))),
      func(metalloid::metal::retain(object_of<metalloid::metal::FunctionObject>(f_))) {}

MetalKernelFunction::~MetalKernelFunction() {
  metalloid::metal::release(static_cast<metalloid::metal::Object*>(cps));
  metalloid::metal::release(static_cast<metalloid::metal::Object*>(func));
}

uint64_t MetalKernelFunction::getMaxThreadsPerThreadgroup() const {
  return object_of<PipelineObject>(cps)->max_threads;
}

uint64_t MetalKernelFunction::getThreadExecutionWidth() const {
  return object_of<PipelineObject>(cps)->kernel.thread_execution_width();
}

uint64_t MetalKernelFunction::getStaticThreadGroupMemoryLength() const {
  return object_of<PipelineObject>(cps)->kernel.static_threadgroup_memory_length();
}

void MetalKernelFunction::runCommandBlock(std::function<void(void)> f) {
  dispatch_sync_f(at::mps::getCurrentMPSStream()->queue(), &f,
                  [](void* work) { (*static_cast<std::function<void(void)>*>(work))(); });
}

void MetalKernelFunction::startEncoding() {
  encoder_of_thread = object_of<EncoderObject>(at::mps::getCurrentMPSStream()->commandEncoder());
  encoding().set_pipeline(object_of<PipelineObject>(cps));
}

void MetalKernelFunction::setArg(unsigned idx, const at::TensorBase& t) {
  metalloid::torch_host::bind_tensor(encoding(), t, idx);
}

void MetalKernelFunction::setArg(unsigned idx, const void* ptr, uint64_t size) {
  TORCH_CHECK(size > 0);
  encoding().set_bytes(idx, ptr, size);
}

void MetalKernelFunction::setErrorBufferIndex(unsigned idx) {
  encoding().set_buffer(idx, at::mps::getCurrentMPSStream()->getErrorBuffer(), 0);
}

void MetalKernelFunction::dispatch(uint64_t length, std::optional<uint64_t> groupSize) {
  if (groupSize) return dispatch(c10::ArrayRef<uint64_t>(length), c10::ArrayRef<uint64_t>(*groupSize));
  dispatch(c10::ArrayRef<uint64_t>(length), c10::OptionalArrayRef<uint64_t>());
}

void MetalKernelFunction::dispatch(c10::ArrayRef<uint64_t> length, c10::OptionalArrayRef<uint64_t> groupSize) {
  TORCH_CHECK(!length.empty() && length.size() < 4, "Dispatch dimensions must be less than 3 and non-empty");
  TORCH_CHECK(!groupSize.has_value() || groupSize->size() == length.size(),
              "size and group_size must have same number of dimensions");
  const uint64_t limit = getMaxThreadsPerThreadgroup();
  std::array<uint64_t, 3> grid = {1, 1, 1};
  std::copy(length.begin(), length.end(), grid.begin());
  std::array<uint64_t, 3> group = {1, 1, 1};
  if (groupSize.has_value()) {
    std::copy(groupSize->begin(), groupSize->end(), group.begin());
  } else {
    const auto first = static_cast<uint32_t>(std::min<uint64_t>(grid[0], std::numeric_limits<uint32_t>::max()));
    const metalloid::Size usual =
        object_of<PipelineObject>(cps)->kernel.default_threadgroup({first}, static_cast<unsigned>(length.size()));
    group = {usual.x, usual.y, usual.z};
  }
  uint64_t volume = 1;
  for (const uint64_t extent : group) {
    TORCH_CHECK_VALUE(!__builtin_mul_overflow(volume, extent, &volume) && volume <= limit, "Threadgroup size exceeds ",
                      limit, " limit");
  }
  encoding().dispatch_threads(grid, group);
}

}  // namespace at::native::mps
