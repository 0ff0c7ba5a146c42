// Lists of tensors in an argument buffer, as fused operators of PyTorch pass them, and what else such files use.
#include <ATen/core/Tensor.h>
#include <ATen/mps/MPSAllocatorInterface.h>
#include <ATen/mps/MPSEvent.h>
#include <ATen/native/mps/OperationUtils.h>
#include <torch/library.h>

namespace at::native {
namespace {

mps::MetalShaderLibrary& library() {
  static mps::MetalShaderLibrary library(R"METAL(
#include <metal_stdlib>
using namespace metal;
struct Lists {
  metal::array<device float*, 3> inputs [[id(0)]];
  metal::array<device float*, 3> results [[id(3)]];
  device const float* scale [[id(6)]];
};
kernel void scale_all(constant Lists& lists [[buffer(0)]], constant uint* sizes [[buffer(1)]],
                      uint list [[threadgroup_position_in_grid]], uint thread_index [[thread_position_in_threadgroup]],
                      uint threads [[threads_per_threadgroup]]) {
  for (uint i = thread_index; i < sizes[list]; i += threads) {
    lists.results[list][i] = lists.inputs[list][i] * lists.scale[0];
  }
}
)METAL");
  return library;
}

void scale_all(TensorList inputs, TensorList results, const Tensor& scale) {
  using namespace mps;
  MPSStream* stream = getCurrentMPSStream();
  dispatch_sync_with_rethrow(stream->queue(), ^() {
    @autoreleasepool {
      id<MTLDevice> device = MPSDevice::getInstance()->device();
      id<MTLComputeCommandEncoder> encoder = stream->commandEncoder();
      id<MTLFunction> function = library().getMTLFunction("scale_all");
      [encoder setComputePipelineState:library().getPipelineStateForFunc("scale_all")];
      auto arguments = [[function newArgumentEncoderWithBufferIndex:0] autorelease];
      id<MTLBuffer> buffer = [[device newBufferWithLength:arguments.encodedLength + 16 options:0] autorelease];
      [arguments setArgumentBuffer:buffer offset:16];
      std::vector<uint32_t> sizes;
      for (size_t i = 0; i < inputs.size(); ++i) {
        [arguments setBuffer:getMTLBufferStorage(inputs[i])
                      offset:inputs[i].storage_offset() * inputs[i].element_size()
                     atIndex:i];
        [arguments setBuffer:getMTLBufferStorage(results[i]) offset:0 atIndex:3 + i];
        [encoder useResource:getMTLBufferStorage(inputs[i]) usage:MTLResourceUsageRead];
        [encoder useResource:getMTLBufferStorage(results[i]) usage:MTLResourceUsageRead | MTLResourceUsageWrite];
        sizes.push_back(static_cast<uint32_t>(inputs[i].numel()));
      }
      [arguments setBuffer:getMTLBufferStorage(scale) offset:0 atIndex:6];
      [encoder useResource:getMTLBufferStorage(scale) usage:MTLResourceUsageRead];
      [encoder setBuffer:buffer offset:16 atIndex:0];
      mtl_setBytes(encoder, sizes, 1);
      [encoder dispatchThreadgroups:MTLSizeMake(inputs.size(), 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    }
  });
}

int64_t wrong_index() {
  auto encoder = [[library().getMTLFunction("scale_all") newArgumentEncoderWithBufferIndex:0] autorelease];
  id<MTLBuffer> buffer = [[MPSDevice::getInstance()->device() newBufferWithLength:encoder.encodedLength
                                                                          options:0] autorelease];
  [encoder setArgumentBuffer:buffer offset:0];
  [encoder setBuffer:buffer offset:0 atIndex:7];
  return 0;
}

int64_t not_a_structure() {
  [library().getMTLFunction("scale_all") newArgumentEncoderWithBufferIndex:1];
  return 0;
}

int64_t turns(int64_t count) {
  __block int64_t sum = 0;
  dispatch_apply(static_cast<size_t>(count), dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_HIGH, 0),
                 ^(size_t turn) {
                   sum += static_cast<int64_t>(turn);
                 });
  return sum;
}

bool is_family(int64_t family) {
  return [MPSDevice::getInstance()->device() supportsFamily:static_cast<MTLGPUFamily>(family)];
}

}  // namespace
}  // namespace at::native

TORCH_LIBRARY(metalloid_argument_buffers, m) {
  m.def("scale_all(Tensor[] inputs, Tensor(a!)[] results, Tensor scale) -> ()");
  m.def("wrong_index() -> int", at::native::wrong_index);
  m.def("not_a_structure() -> int", at::native::not_a_structure);
  m.def("turns(int count) -> int", at::native::turns);
  m.def("is_family(int family) -> bool", at::native::is_family);
}
TORCH_LIBRARY_IMPL(metalloid_argument_buffers, MPS, m) { m.impl("scale_all", at::native::scale_all); }
