// Metal Performance Shaders' own command buffers stand on Metal's.
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

// Its objects are Metal's.
#pragma clang diagnostic ignored "-Wincomplete-implementation"
#pragma clang diagnostic ignored "-Wprotocol"
#pragma clang diagnostic ignored "-Wobjc-protocol-property-synthesis"
@implementation MPSCommandBuffer
+ (instancetype)commandBufferWithCommandBuffer:(id<MTLCommandBuffer>)buffer {
  return (id)buffer;
}
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)queue {
  return (id)[queue commandBuffer];
}
@end
