// What ends a program on a Mac, each by its name.
#import <Metal/Metal.h>

#include <stdlib.h>

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
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  if ([what isEqual:@"committed"] || [what isEqual:@"handler"]) {
    [commands commit];
    if ([what isEqual:@"committed"]) [commands commit];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> done){
    }];
  }
  // What only the debug layer looks at.
  id<MTLComputeCommandEncoder> other = [commands computeCommandEncoder];
  id<MTLBuffer> buffer = [device newBufferWithLength:16 options:0];
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:@"kernel void f(device int* x) { x[0] = 1; }"
                                                options:nil
                                                  error:&error];
  [other setComputePipelineState:[device newComputePipelineStateWithFunction:[library newFunctionWithName:@"f"]
                                                                       error:&error]];
  if ([what isEqual:@"offset"]) [other setBuffer:buffer offset:16 atIndex:0];
  if ([what isEqual:@"bytes"]) [other setBytes:[[NSMutableData dataWithLength:4097] bytes] length:4097 atIndex:0];
  if ([what isEqual:@"group"]) {
    [other setBuffer:buffer offset:0 atIndex:0];
    [other dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(0, 1, 1)];
  }
  if ([what isEqual:@"binding"]) {
    [other dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  }
  if ([what isEqual:@"two encoders"]) [commands computeCommandEncoder];
  if ([what isEqual:@"open"]) [commands commit];
  [other endEncoding];
  if ([what isEqual:@"ended"]) [other setBuffer:buffer offset:0 atIndex:0];
  if ([what isEqual:@"waiting"]) {
    if (getenv("MTL_DEBUG_LAYER")) [commands waitUntilCompleted];
  }
  [commands commit];
  [commands waitUntilCompleted];
  puts("nothing was wrong");
  return 0;
}
