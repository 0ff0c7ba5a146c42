// Threadgroup memory that a kernel writes beyond: a little does no harm, as on a GPU, more is an error.
#import <Metal/Metal.h>

#include "checking.h"

static NSString* const source =
    @"#include <metal_stdlib>\nusing namespace metal;\n"
     "kernel void zero(device float* out [[buffer(0)]], constant uint& far [[buffer(1)]],\n"
     "                 threadgroup float4* memory [[threadgroup(0)]], uint lane [[thread_index_in_threadgroup]]) {\n"
     "  for (uint i = 0; i < 2; ++i) memory[far + i * 8 + lane] = 1.0f;\n"
     "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
     "  out[lane] = memory[lane].x;\n}";

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:NULL];
    CHECK(library);
    id<MTLFunction> function = [library newFunctionWithName:@"zero"];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:NULL];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLBuffer> out = [device newBufferWithLength:32 * sizeof(float) options:0];
    // 16 lengths of a float4, of which lanes write 40; 32 lanes of all there is; 40 lanes where there is no more.
    const NSUInteger lengths[] = {256, 512, 32768, 32768};
    const uint32_t begins[] = {0, 0, 0, 2048 - 32};
    for (int i = 0; i < 4; ++i) {
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
      [encoder setComputePipelineState:state];
      [encoder setBuffer:out offset:0 atIndex:0];
      [encoder setBytes:&begins[i] length:4 atIndex:1];
      [encoder setThreadgroupMemoryLength:lengths[i] atIndex:0];
      [encoder dispatchThreadgroups:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
      [encoder endEncoding];
      [commands commit];
      [commands waitUntilCompleted];
      if (commands.status == MTLCommandBufferStatusCompleted && begins[i] == 0) CHECK(((float*)out.contents)[31] == 1);
      printf("%s\n", commands.status == MTLCommandBufferStatusCompleted ? "completed" : "failed");
    }
  }
  return 0;
}
