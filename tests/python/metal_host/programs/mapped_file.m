// Weights as programs map them: a file that nobody can write to, of which a buffer is made without a copy. Devices with
// memory of their own may have one.
#import <Metal/Metal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checking.h"

static void run(void) {
  const size_t count = 8192, size = count * sizeof(float);
  char path[] = "/tmp/mapped_file_XXXXXX";
  const int file = mkstemp(path);
  CHECK(file >= 0 && unlink(path) == 0);
  for (size_t i = 0; i < count; ++i) {
    const float number = i;
    CHECK(write(file, &number, sizeof(number)) == sizeof(number));
  }
  float* weights = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
  CHECK(weights != MAP_FAILED && close(file) == 0);

  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  __block void* freed = NULL;
  id<MTLBuffer> x = [device newBufferWithBytesNoCopy:weights
                                              length:size
                                             options:MTLResourceStorageModeShared
                                         deallocator:^(void* memory, NSUInteger length) {
                                           freed = munmap(memory, length) == 0 ? memory : NULL;
                                         }];
  CHECK(x.contents == weights && x.length == size && x.storageMode == MTLStorageModeShared);
  id<MTLBuffer> y = [device newBufferWithLength:size options:MTLResourceStorageModeShared];
  id<MTLLibrary> library = [device newLibraryWithSource:@SAXPY_SOURCE options:nil error:nil];
  id<MTLFunction> function = [library newFunctionWithName:@"saxpy"];
  id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:nil];
  id<MTLCommandQueue> queue = [device newCommandQueue];
  @autoreleasepool {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLBlitCommandEncoder> copies = [commands blitCommandEncoder];
    [copies copyFromBuffer:x sourceOffset:4 toBuffer:y destinationOffset:0 size:size - 4];
    [copies endEncoding];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    const float a = 3;
    [encoder setComputePipelineState:state];
    [encoder setBuffer:y offset:0 atIndex:0];
    [encoder setBuffer:x offset:0 atIndex:1];
    [encoder setBytes:&a length:sizeof(a) atIndex:2];
    [encoder dispatchThreads:MTLSizeMake(count, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.status == MTLCommandBufferStatusCompleted);
  }
  for (size_t i = 0; i + 1 < count; ++i) CHECK(((float*)y.contents)[i] == i + 1 + 3.0f * i);
  CHECK(freed == NULL);
  [x release];
  CHECK(freed == weights);
  [y release];
  [queue release];
  [state release];
  [function release];
  [library release];
  [device release];
}

int main(void) {
  @autoreleasepool {
    run();
  }
  puts("mapped file");
  return 0;
}
