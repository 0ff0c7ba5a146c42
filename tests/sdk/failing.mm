// A dispatch that fails, in C++ on libc++: the handler sees the error, and the program ends well.
#import <Metal/Metal.h>

#include <iostream>
#include <string>
#include <vector>

int main() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError* error = nil;
    NSString* source = @"kernel void f(device float* x, constant int& first, uint i [[thread_position_in_grid]]) {\n"
                        "  threadgroup float all[8];\n"
                        "  for (int k = first; k < 8; ++k) all[k] = k;\n"
                        "  x[i] = all[i % 8];\n}";
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
    id<MTLFunction> function = [library newFunctionWithName:@"f"];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:&error];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLBuffer> buffer = [device newBufferWithLength:4096 options:MTLResourceStorageModeShared];
    for (int round = 0; round < 20; ++round) {
      std::vector<std::string> others;
      for (std::size_t i = 0; i < 100; ++i) others.emplace_back(i, 'x');
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
      const int first = -8;
      [encoder setComputePipelineState:state];
      [encoder setBuffer:buffer offset:0 atIndex:0];
      [encoder setBytes:&first length:sizeof first atIndex:1];
      [encoder dispatchThreads:MTLSizeMake(1024, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
      [encoder endEncoding];
      [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
        if (round == 0) std::cout << [[[done error] localizedDescription] UTF8String] << "\n";
      }];
      [commands commit];
      [commands waitUntilCompleted];
    }
    std::cout << "end\n";
  }
}
