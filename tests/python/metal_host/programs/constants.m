// Function constants as Metal takes them: values of constants that the library does not have are passed over; constants
// without a value are not defined, and zero where code reads them.
#import <Metal/Metal.h>

#include "checking.h"

static NSString* const source =
    @"#include <metal_stdlib>\nusing namespace metal;\n"
     "constant int given [[function_constant(0)]];\n"
     "constant int missing [[function_constant(1)]];\n"
     "constant int derived = missing + 2;\n"
     "constant bool is_wide [[function_constant(2)]];\n"
     "kernel void tell(device int* out [[buffer(0)]], device int* gated [[buffer(1), function_constant(is_wide)]]) {\n"
     "  out[0] = given; out[1] = missing; out[2] = derived; out[3] = is_function_constant_defined(missing);\n"
     "  if (is_wide) gated[0] = 1;\n}";

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:NULL];
    CHECK(library);
    MTLFunctionConstantValues* values = [MTLFunctionConstantValues new];
    const int given = 7;
    [values setConstantValue:&given type:MTLDataTypeInt atIndex:0];
    [values setConstantValue:&given type:MTLDataTypeInt atIndex:40];
    [values setConstantValue:&given type:MTLDataTypeInt withName:@"elsewhere"];
    NSError* error = nil;
    id<MTLFunction> function = [library newFunctionWithName:@"tell" constantValues:values error:&error];
    if (!function) {
      printf("%s\n", error.localizedDescription.UTF8String);
      return 0;
    }
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:NULL];
    id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    id<MTLBuffer> out = [device newBufferWithLength:16 options:0];
    [encoder setComputePipelineState:state];
    [encoder setBuffer:out offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.status == MTLCommandBufferStatusCompleted);
    const int* told = out.contents;
    printf("%d %d %d %d\n", told[0], told[1], told[2], told[3]);
    // Without any values the kernel cannot become a pipeline.
    id<MTLFunction> bare = [library newFunctionWithName:@"tell"];
    CHECK(![device newComputePipelineStateWithFunction:bare error:&error]);
    CHECK([error.localizedDescription rangeOfString:@"'given' (index 0)"].length > 0);
  }
  return 0;
}
