// Reads a little in front of a command's bytes, and behind them, find something, as on a GPU, where nobody asks for checks.
#include "running.h"

static const char source[] = "kernel void place(device long* x [[buffer(0)]], constant long* strides [[buffer(1)]],\n"
                             "                  constant int& first [[buffer(2)]], constant int& last [[buffer(3)]]) {\n"
                             "  long total = 0;\n"
                             "  for (int i = first; i < last; ++i) total += i * strides[i];\n"
                             "  x[0] = total + strides[0];\n"
                             "}\n";

int main(void) {
  const Program program = program_of(source, "place");
  const int firsts[] = {0, -2, -1000}, lasts[] = {2, 4, 2};
  for (int i = 0; i < 3; ++i) {
    id<MTLBuffer> x = [program.device newBufferWithLength:8 options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> commands = [program.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    const long strides[] = {5, 3};
    [encoder setComputePipelineState:program.state];
    [encoder setBuffer:x offset:0 atIndex:0];
    [encoder setBytes:strides length:sizeof(strides) atIndex:1];
    [encoder setBytes:&firsts[i] length:sizeof(int) atIndex:2];
    [encoder setBytes:&lasts[i] length:sizeof(int) atIndex:3];
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    const BOOL is_completed = [commands status] == MTLCommandBufferStatusCompleted;
    if (is_completed) CHECK(*(const long*)[x contents] == 8);
    printf("%s\n", is_completed ? "completed" : "failed");
  }
  let_go_of(program);
}
