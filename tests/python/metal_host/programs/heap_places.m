// Buffers out of a heap lie in the heap's memory, wherever the device has it: kernels see them there.
#include "running.h"

static const char source[] = "kernel void places(device ulong* first [[buffer(0)]], device ulong* second [[buffer(1)]]) {\n"
                             "  first[0] = reinterpret_cast<ulong>(first);\n"
                             "  second[0] = reinterpret_cast<ulong>(second);\n"
                             "}\n";

int main(void) {
  const Program program = program_of(source, "places");
  MTLHeapDescriptor* descriptor = [[MTLHeapDescriptor alloc] init];
  [descriptor setSize:1 << 16];
  [descriptor setStorageMode:MTLStorageModeShared];
  id<MTLHeap> heap = [program.device newHeapWithDescriptor:descriptor];
  id<MTLBuffer> buffers[] = {[heap newBufferWithLength:16 options:MTLResourceStorageModeShared],
                             [heap newBufferWithLength:16 options:MTLResourceStorageModeShared]};
  id<MTLCommandBuffer> commands = [program.queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:program.state];
  for (int i = 0; i < 2; ++i) [encoder setBuffer:buffers[i] offset:0 atIndex:i];
  [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder endEncoding];
  complete(commands);
  for (int i = 0; i < 2; ++i) CHECK(*(const uint64_t*)[buffers[i] contents] == [buffers[i] gpuAddress]);
  CHECK([buffers[1] gpuAddress] > [buffers[0] gpuAddress]);
  let_go_of(program);
}
