// An extension in the style of Apple's sample: Metal's objects, PyTorch's queue and command buffer.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <torch/library.h>
#include <torch/mps.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

static const char* const kernel_source = R"METAL(
#include <metal_stdlib>
using namespace metal;
template <typename T>
kernel void softshrink(constant T* input [[buffer(0)]], device T* output [[buffer(1)]], constant float& lambda [[buffer(2)]],
                       uint index [[thread_position_in_grid]]) {
  const T value = input[index];
  output[index] = value > lambda ? value - T(lambda) : value < -lambda ? value + T(lambda) : T(0);
}
template [[host_name("softshrink_float")]] kernel void softshrink(constant float*, device float*, constant float&, uint);
template [[host_name("softshrink_half")]] kernel void softshrink(constant half*, device half*, constant float&, uint);
)METAL";

static inline id<MTLBuffer> storage_of(const at::Tensor& tensor) {
  return __builtin_bit_cast(id<MTLBuffer>, tensor.storage().data());
}

static at::Tensor softshrink(const at::Tensor& input, double lambda) {
  TORCH_CHECK(input.is_contiguous(), "input must be contiguous");
  TORCH_CHECK(input.scalar_type() == at::kFloat || input.scalar_type() == at::kHalf, "unsupported data type");
  at::Tensor output = at::empty_like(input);
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError* error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:kernel_source]
                                                  options:nil
                                                    error:&error];
    TORCH_CHECK(library, "no library: ", error.localizedDescription.UTF8String);
    const std::string name = std::string("softshrink_") + (input.scalar_type() == at::kFloat ? "float" : "half");
    id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:name.c_str()]];
    TORCH_CHECK(function, "no function ", name);
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:&error];
    TORCH_CHECK(state, error.localizedDescription.UTF8String);
    id<MTLCommandBuffer> commands = torch::mps::get_command_buffer();
    TORCH_CHECK(commands, "no command buffer");
    dispatch_queue_t queue = torch::mps::get_dispatch_queue();
    dispatch_sync(queue, ^() {
      id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
      [encoder setComputePipelineState:state];
      [encoder setBuffer:storage_of(input) offset:input.storage_offset() * input.element_size() atIndex:0];
      [encoder setBuffer:storage_of(output) offset:output.storage_offset() * output.element_size() atIndex:1];
      const float number = static_cast<float>(lambda);
      [encoder setBytes:&number length:sizeof(float) atIndex:2];
      const NSUInteger group = MIN(state.maxTotalThreadsPerThreadgroup, static_cast<NSUInteger>(input.numel()));
      [encoder dispatchThreads:MTLSizeMake(input.numel(), 1, 1) threadsPerThreadgroup:MTLSizeMake(group, 1, 1)];
      [encoder endEncoding];
      torch::mps::commit();
    });
  }
  return output;
}

TORCH_LIBRARY(metalloid_softshrink, m) { m.def("softshrink(Tensor input, float lambda) -> Tensor"); }
TORCH_LIBRARY_IMPL(metalloid_softshrink, MPS, m) { m.impl("softshrink", softshrink); }
