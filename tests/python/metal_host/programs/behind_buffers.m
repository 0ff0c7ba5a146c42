// Reads a little behind a buffer find something, as on a GPU, where nobody asks for checks.
#import <Metal/Metal.h>
#include <mach/mach.h>

#include "checking.h"

int main(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  NSString* source = @"kernel void sum(device long* x [[buffer(0)]], constant int& last [[buffer(1)]]) {\n"
                      "  long total = 0;\n"
                      "  for (int i = 0; i < last; ++i) total ^= x[i];\n"
                      "  x[0] = total == 12345 ? 8 : 7;\n"
                      "}\n";
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
  CHECK(library);
  id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:[library newFunctionWithName:@"sum"]
                                                                            error:&error];
  CHECK(state);
  vm_address_t pages = 0;
  const vm_size_t size = 1 << 16;
  CHECK(vm_allocate(mach_task_self(), &pages, size, VM_FLAGS_ANYWHERE) == KERN_SUCCESS);
  id<MTLBuffer> around = [device newBufferWithBytesNoCopy:(void*)pages length:size options:0 deallocator:nil];
  CHECK([around length] == size);
  // The last one: 128 rows of a matrix that has 96.
  const int lasts[] = {1, 100, 1 << 20, (1 << 13) + 1000, 128 * 864};
  for (int i = 0; i < 5; ++i) {
    const NSUInteger length = i == 4 ? 96 * 864 * 8 : 8;
    id<MTLBuffer> x = i == 3 ? around : [device newBufferWithLength:length options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setBuffer:x offset:0 atIndex:0];
    [encoder setBytes:&lasts[i] length:sizeof(int) atIndex:1];
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    const BOOL is_completed = [commands status] == MTLCommandBufferStatusCompleted;
    if (is_completed) CHECK(*(const long*)[x contents] == 7);
    printf("%s\n", is_completed ? "completed" : "failed");
  }
  [around release];
  CHECK(vm_deallocate(mach_task_self(), pages, size) == KERN_SUCCESS);
}
