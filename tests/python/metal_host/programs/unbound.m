// Arguments that the chosen variant of a kernel leaves alone need no buffer, and reflection says so; an array of no
// elements may be bound as no bytes.
#import <Metal/Metal.h>

#include "checking.h"

int main(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  NSString* source =
      @"#include <metal_stdlib>\n"
       "template <bool scales> float value(constant float& factor) { if (scales) { return factor; } return 7; }\n"
       "template <bool scales> kernel void fill(device float* x [[buffer(0)]], constant float& factor [[buffer(1)]],\n"
       "                                        uint i [[thread_position_in_grid]]) { x[i] = value<scales>(factor); }\n"
       "template [[host_name(\"fill\")]] kernel decltype(fill<false>) fill<false>;\n"
       "kernel void total(device float* x [[buffer(0)]], constant int* shape [[buffer(1)]],\n"
       "                  constant int& count [[buffer(2)]]) {\n"
       "  for (int i = 0; i < count; ++i) { x[0] += shape[i]; }\n"
       "}\n";
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
  CHECK(library);
  MTLComputePipelineReflection* reflection = nil;
  id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:[library newFunctionWithName:@"fill"]
                                                                          options:MTLPipelineOptionBindingInfo
                                                                       reflection:&reflection
                                                                            error:&error];
  CHECK(state);
  CHECK([[reflection bindings] count] == 2);
  CHECK([[[reflection bindings] objectAtIndex:0] isUsed]);
  CHECK(![[[reflection bindings] objectAtIndex:1] isUsed]);
  id<MTLBuffer> x = [device newBufferWithLength:16 options:MTLResourceStorageModeShared];
  id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:state];
  [encoder setBuffer:x offset:0 atIndex:0];
  [encoder setBytes:"x" length:1 atIndex:1];  // another kernel's, less than a float
  [encoder dispatchThreads:MTLSizeMake(4, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK([commands status] == MTLCommandBufferStatusCompleted);
  CHECK(((const float*)[x contents])[3] == 7);
  state = [device newComputePipelineStateWithFunction:[library newFunctionWithName:@"total"] error:&error];
  CHECK(state);
  const int count = 0;
  commands = [[device newCommandQueue] commandBuffer];
  encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:state];
  [encoder setBuffer:x offset:0 atIndex:0];
  [encoder setBytes:&count length:0 atIndex:1];
  [encoder setBytes:&count length:sizeof count atIndex:2];
  [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK([commands status] == MTLCommandBufferStatusCompleted);
  CHECK(((const float*)[x contents])[0] == 7);
  puts("unbound");
}
