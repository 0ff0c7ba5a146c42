// A kernel with a race, in an encoder and a command buffer that have labels: `labelled race`, or without one:
// `labelled`.
#import <Metal/Metal.h>

#include <stdio.h>

static const char* const source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant bool meets [[function_constant(0)]];\n"
    "kernel void reverse(device float* values, uint i [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup float shared[64];\n"
    "  shared[i] = values[i];\n"
    "  if (meets) threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  values[i] = shared[63 - i];\n"
    "}\n";

int main(int count, char** arguments) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError* error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:source]
                                                  options:nil
                                                    error:&error];
    MTLFunctionConstantValues* constants = [[[MTLFunctionConstantValues alloc] init] autorelease];
    const bool meets = count == 1;
    [constants setConstantValue:&meets type:MTLDataTypeBool atIndex:0];
    id<MTLFunction> function = [library newFunctionWithName:@"reverse" constantValues:constants error:&error];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:&error];
    id<MTLBuffer> buffer = [device newBufferWithLength:64 * sizeof(float) options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
    commands.label = @"frame 7";
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    encoder.label = @"turn round";
    [encoder setComputePipelineState:state];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(64, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    printf("done\n");
    return 0;
  }
}
