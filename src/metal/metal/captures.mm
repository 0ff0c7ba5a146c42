// Captures are for Apple's tools, which are not here.
#include "metal/metal/faces.h"

NSErrorDomain const MTLCaptureErrorDomain = @"MTLCaptureErrorDomain";

@interface MetalloidCaptureScope : MetalloidPart <MTLCaptureScope>
@end
@implementation MetalloidCaptureScope {
 @public
  id<MTLCommandQueue> queue;
}
- (id<MTLCommandQueue>)commandQueue {
  return queue;
}
- (void)beginScope {
}
- (void)endScope {
}
@end

@implementation MTLCaptureDescriptor
- (instancetype)init {
  _destination = MTLCaptureDestinationDeveloperTools;
  return self;
}
- (void)dealloc {
  [_captureObject release];
  [_outputURL release];
  [super dealloc];
}
- (id)copy {
  MTLCaptureDescriptor* other = [[MTLCaptureDescriptor alloc] init];
  [other setCaptureObject:_captureObject];
  [other setDestination:_destination];
  [other setOutputURL:_outputURL];
  return other;
}
@end

@implementation MTLCaptureManager
+ (MTLCaptureManager*)sharedCaptureManager {
  static MTLCaptureManager* const one = [[MTLCaptureManager alloc] init];
  return one;
}
- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device {
  MetalloidCaptureScope* scope = [[MetalloidCaptureScope alloc] init];
  scope->owner = device;
  return scope;
}
- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:(id<MTLCommandQueue>)queue {
  MetalloidCaptureScope* scope = [[MetalloidCaptureScope alloc] init];
  scope->owner = [queue device];
  scope->queue = queue;
  return scope;
}
- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
  return NO;
}
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError**)error {
  if (error) {
    *error = metalloid::objective_c::error_of(MTLCaptureErrorDomain, MTLCaptureErrorNotSupported,
                                              "captures are for Apple's tools, which are not here");
  }
  return NO;
}
- (void)startCaptureWithDevice:(id<MTLDevice>)device {
}
- (void)startCaptureWithCommandQueue:(id<MTLCommandQueue>)queue {
}
- (void)startCaptureWithScope:(id<MTLCaptureScope>)scope {
}
- (void)stopCapture {
}
- (BOOL)isCapturing {
  return NO;
}
@end
