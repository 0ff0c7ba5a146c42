// Kernels may exchange the word in which a buffer's last element lies, though the buffer ends within it.
#import <Metal/Metal.h>

#include "checking.h"

int main(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  NSString* source =
      @"#include <metal_stdlib>\n"
       "using namespace metal;\n"
       "kernel void set(device atomic_uint* words [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
       "  uint old = atomic_load_explicit(words + i, memory_order_relaxed);\n"
       "  while (!atomic_compare_exchange_weak_explicit(words + i, &old, (old & 0xffff0000u) | 0x3c00u,\n"
       "             memory_order_relaxed, memory_order_relaxed)) {}\n"
       "}\n";
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
  CHECK(library);
  id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:[library newFunctionWithName:@"set"]
                                                                            error:&error];
  CHECK(state);
  MTLHeapDescriptor* descriptor = [[MTLHeapDescriptor alloc] init];
  [descriptor setStorageMode:MTLStorageModeShared];
  [descriptor setSize:1024];
  id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
  const NSUInteger before = [device currentAllocatedSize];
  id<MTLBuffer> buffers[] = {[device newBufferWithLength:18 options:MTLResourceStorageModeShared],
                             [heap newBufferWithLength:18 options:MTLResourceStorageModeShared]};
  CHECK([device currentAllocatedSize] == before + 18);
  id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:state];
  for (int i = 0; i < 2; ++i) {
    CHECK([buffers[i] length] == 18);
    [encoder setBuffer:buffers[i] offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(5, 1, 1) threadsPerThreadgroup:MTLSizeMake(5, 1, 1)];
  }
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK([commands status] == MTLCommandBufferStatusCompleted);
  for (int i = 0; i < 2; ++i) CHECK(((const unsigned short*)[buffers[i] contents])[8] == 0x3c00);
  puts("last words");
}
