// What ends a program on a Mac, each by its name.
#import <Metal/Metal.h>

#include "checking.h"

@protocol Painter
- (void)paint:(int)what;
@end

int main(int count, char** arguments) {
  CHECK(count == 2);
  NSString* what = [NSString stringWithUTF8String:arguments[1]];
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLComputeCommandEncoder> encoder = [[queue commandBuffer] computeCommandEncoder];
  if ([what isEqual:@"selector"]) [(id<Painter>)device paint:1];
  if ([what isEqual:@"index"]) [encoder setBuffer:nil offset:0 atIndex:31];
  if ([what isEqual:@"pipeline"]) {
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  }
  if ([what isEqual:@"kind"]) [encoder setComputePipelineState:(id)queue];
  if ([what isEqual:@"gone"]) {
    id<MTLBuffer> buffer = [device newBufferWithLength:16 options:0];
    [buffer release];
    [buffer length];
  }
  if ([what isEqual:@"array"]) [@[ @1, @2, @3 ] objectAtIndex:3];
  puts("nothing was wrong");
  return 0;
}
