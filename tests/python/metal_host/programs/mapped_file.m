// Weights as programs map them: a file that nobody can write to, of which a buffer is made without a copy. Devices with
// memory of their own may have one.
#include <sys/mman.h>
#include <unistd.h>

#include "running.h"

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

  const Program program = program_of(SAXPY_SOURCE, "saxpy");
  __block void* freed = NULL;
  id<MTLBuffer> x = [program.device newBufferWithBytesNoCopy:weights
                                                      length:size
                                                     options:MTLResourceStorageModeShared
                                                 deallocator:^(void* memory, NSUInteger length) {
                                                   freed = munmap(memory, length) == 0 ? memory : NULL;
                                                 }];
  CHECK(x.contents == weights && x.length == size && x.storageMode == MTLStorageModeShared);
  id<MTLBuffer> y = [program.device newBufferWithLength:size options:MTLResourceStorageModeShared];
  @autoreleasepool {
    id<MTLCommandBuffer> commands = [program.queue commandBuffer];
    id<MTLBlitCommandEncoder> copies = [commands blitCommandEncoder];
    [copies copyFromBuffer:x sourceOffset:4 toBuffer:y destinationOffset:0 size:size - 4];
    [copies endEncoding];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    const float a = 3;
    [encoder setComputePipelineState:program.state];
    [encoder setBuffer:y offset:0 atIndex:0];
    [encoder setBuffer:x offset:0 atIndex:1];
    [encoder setBytes:&a length:sizeof(a) atIndex:2];
    [encoder dispatchThreads:MTLSizeMake(count, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
    [encoder endEncoding];
    complete(commands);
  }
  for (size_t i = 0; i + 1 < count; ++i) CHECK(((float*)y.contents)[i] == i + 1 + 3.0f * i);
  CHECK(freed == NULL);
  [x release];
  CHECK(freed == weights);
  [y release];
  let_go_of(program);
}

int main(void) {
  @autoreleasepool {
    run();
  }
  puts("mapped file");
  return 0;
}
