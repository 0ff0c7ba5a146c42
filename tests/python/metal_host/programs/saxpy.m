// Objective-C with counting by hand, as ggml is written.
#import <Metal/Metal.h>
#import <objc/runtime.h>

#include "checking.h"

static void run(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:@SAXPY_SOURCE options:nil error:&error];
  CHECK(library != nil && error == nil);
  CHECK([[library functionNames] isEqual:@[ @"saxpy" ]]);
  id<MTLFunction> function = [library newFunctionWithName:@"saxpy"];
  CHECK(function != nil && [library newFunctionWithName:@"other"] == nil);
  id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:&error];
  CHECK(state != nil && state.threadExecutionWidth == 32);
  id<MTLCommandQueue> queue = [device newCommandQueue];

  const NSUInteger count = 1000;
  const NSUInteger before = device.currentAllocatedSize;
  id<MTLBuffer> x = [device newBufferWithLength:count * sizeof(float) options:MTLResourceStorageModeShared];
  id<MTLBuffer> y = [device newBufferWithLength:count * sizeof(float) options:MTLResourceStorageModeShared];
  CHECK(device.currentAllocatedSize == before + 2 * count * sizeof(float));
  for (NSUInteger i = 0; i < count; ++i) {
    ((float*)x.contents)[i] = i;
    ((float*)y.contents)[i] = 1;
  }
  __block int handled = 0;
  @autoreleasepool {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    CHECK(commands.status == MTLCommandBufferStatusNotEnqueued);
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    const float a = 2;
    [encoder setComputePipelineState:state];
    [encoder setBuffer:y offset:0 atIndex:0];
    [encoder setBuffer:x offset:0 atIndex:1];
    [encoder setBytes:&a length:sizeof(a) atIndex:2];
    [encoder dispatchThreads:MTLSizeMake(count, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
    [encoder endEncoding];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
      handled += done.status == MTLCommandBufferStatusCompleted;
    }];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.status == MTLCommandBufferStatusCompleted && commands.error == nil);
    CHECK(commands.GPUEndTime >= commands.GPUStartTime && commands.GPUStartTime > 0);
  }
  CHECK(handled == 1);
  for (NSUInteger i = 0; i < count; ++i) CHECK(((float*)y.contents)[i] == 1 + 2.0f * i);
  [x release];
  [y release];
  CHECK(device.currentAllocatedSize == before);
  [queue release];
  [state release];
  [function release];
  [library release];
  [device release];
}

int main(void) {
  // What is made once stays.
  @autoreleasepool {
    run();
  }
  const size_t before = metalloid_live_objects();
  for (int i = 0; i < 10; ++i) {
    @autoreleasepool {
      run();
    }
  }
  CHECK(metalloid_live_objects() == before);
  puts("saxpy");
  return 0;
}
