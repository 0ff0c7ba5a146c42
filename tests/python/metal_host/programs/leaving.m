// Processes that end, or fork, while kernels run.
//   exit | return     with work in flight
//   fork              the child ends, and runs kernels on a queue of its own; the parent's work is not touched
#import <Metal/Metal.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checking.h"

static NSString* const source =
    @"#include <metal_stdlib>\nusing namespace metal;\n"
     "kernel void count(device uint* out [[buffer(0)]], constant uint& turns [[buffer(1)]],\n"
     "                  uint i [[thread_position_in_grid]]) {\n"
     "  uint x = i;\n"
     "  for (uint k = 0; k < turns; ++k) x = x * 1664525 + 1013904223;\n"
     "  out[i] = x;\n}";

static uint32_t expected(uint32_t x, uint32_t turns) {
  for (uint32_t k = 0; k < turns; ++k) x = x * 1664525 + 1013904223;
  return x;
}

static id<MTLCommandBuffer> committed(id<MTLComputePipelineState> state, id<MTLBuffer> out, uint32_t turns) {
  id<MTLCommandBuffer> commands = [[[state device] newCommandQueue] commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:state];
  [encoder setBuffer:out offset:0 atIndex:0];
  [encoder setBytes:&turns length:sizeof(turns) atIndex:1];
  [encoder dispatchThreads:MTLSizeMake(256, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  return commands;
}

static void run(id<MTLComputePipelineState> state, uint32_t turns) {
  id<MTLBuffer> out = [[state device] newBufferWithLength:1024 options:0];
  id<MTLCommandBuffer> commands = committed(state, out, turns);
  [commands waitUntilCompleted];
  CHECK(commands.status == MTLCommandBufferStatusCompleted);
  CHECK(((uint32_t*)out.contents)[255] == expected(255, turns));
  [out release];
}

int main(int count, char** arguments) {
  CHECK(count == 2);
  const char* how = arguments[1];
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:NULL];
    id<MTLFunction> function = [library newFunctionWithName:@"count"];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:NULL];
    CHECK(state);
    run(state, 10);
    const uint32_t turns = 3000000;
    id<MTLBuffer> out = [device newBufferWithLength:1024 options:0];
    id<MTLCommandBuffer> running = committed(state, out, turns);
    for (int i = 0; i < 3; ++i) committed(state, [device newBufferWithLength:1024 options:0], turns);
    printf("%s\n", how);
    fflush(stdout);
    if (strcmp(how, "exit") == 0) exit(0);
    if (strcmp(how, "return") == 0) return 0;
    for (int i = 0; i < 3; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        if (i == 0) _exit(5);
        if (i == 1) run(state, 20);
        exit(5);
      }
      int status = 0;
      CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    }
    [running waitUntilCompleted];
    CHECK(running.status == MTLCommandBufferStatusCompleted);
    CHECK(((uint32_t*)out.contents)[255] == expected(255, turns));
    run(state, 30);
  }
  return 0;
}
