// What programs share that run one kernel: its pipeline state and a queue, and a command buffer that ends well.
#pragma once

#import <Metal/Metal.h>

#include "checking.h"

typedef struct {
  id<MTLDevice> device;
  id<MTLComputePipelineState> state;
  id<MTLCommandQueue> queue;
} Program;

static inline Program program_of(const char* source, const char* kernel) {
  Program program = {.device = MTLCreateSystemDefaultDevice()};
  NSError* error = nil;
  id<MTLLibrary> library = [program.device newLibraryWithSource:[NSString stringWithUTF8String:source]
                                                        options:nil
                                                          error:&error];
  CHECK(library != nil);
  id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:kernel]];
  program.state = [program.device newComputePipelineStateWithFunction:function error:&error];
  CHECK(program.state != nil);
  program.queue = [program.device newCommandQueue];
  [function release];
  [library release];
  return program;
}

static inline void complete(id<MTLCommandBuffer> commands) {
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.status == MTLCommandBufferStatusCompleted);
}

static inline void let_go_of(Program program) {
  [program.queue release];
  [program.state release];
  [program.device release];
}
