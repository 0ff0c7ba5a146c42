// A thread's own array, which a kernel writes in front of: that goes nowhere, as on a GPU, unless Metal validates.
#import <Metal/Metal.h>

#include "checking.h"

static NSString* const source =
    @"#include <metal_stdlib>\nusing namespace metal;\n"
     "kernel void fill(device float* out [[buffer(0)]], constant int& size [[buffer(1)]],\n"
     "                 uint lane [[thread_position_in_grid]]) {\n"
     "  float own[4] = {1, 1, 1, 1};\n"
     "  for (int i = size - int(lane) * 4; i < 4; ++i) own[i] = 0.0f;\n"
     "  out[lane] = own[0] + own[1] + own[2] + own[3];\n}";

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:NULL];
    id<MTLLibrary> same = [device newLibraryWithSource:source options:[MTLCompileOptions new] error:NULL];
    CHECK(library && same);
    for (int i = 0; i < 2; ++i) {
      id<MTLFunction> function = [i == 0 ? library : same newFunctionWithName:@"fill"];
      id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:NULL];
      id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
      id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
      id<MTLBuffer> out = [device newBufferWithLength:8 * sizeof(float) options:0];
      const int size = 6;
      [encoder setComputePipelineState:state];
      [encoder setBuffer:out offset:0 atIndex:0];
      [encoder setBytes:&size length:sizeof(size) atIndex:1];
      [encoder dispatchThreads:MTLSizeMake(8, 1, 1) threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
      [encoder endEncoding];
      [commands commit];
      [commands waitUntilCompleted];
      const float* sums = out.contents;
      if (commands.status == MTLCommandBufferStatusCompleted) {
        printf("%g %g %g %g\n", sums[0], sums[1], sums[2], sums[7]);
      } else {
        printf("%s\n", commands.error.localizedDescription.UTF8String);
      }
    }
  }
  return 0;
}
