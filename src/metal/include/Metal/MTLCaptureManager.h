// Captures for Apple's developer tools, which say that they are not there.
#pragma once

#import <Metal/MTLTypes.h>

typedef NS_ENUM(NSInteger, MTLCaptureError) {
  MTLCaptureErrorNotSupported = 1,
  MTLCaptureErrorAlreadyCapturing = 2,
  MTLCaptureErrorInvalidDescriptor = 3,
};
typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationDeveloperTools = 1,
  MTLCaptureDestinationGPUTraceDocument = 2,
};
FOUNDATION_EXPORT NSErrorDomain const MTLCaptureErrorDomain;

@protocol MTLCaptureScope <NSObject>
- (void)beginScope;
- (void)endScope;
@property(copy, atomic) NSString* label;
@property(readonly, nonatomic) id<MTLDevice> device;
@property(readonly, nonatomic) id<MTLCommandQueue> commandQueue;
@end

@interface MTLCaptureDescriptor : NSObject <NSCopying>
@property(retain, nonatomic) id captureObject;
@property(nonatomic) MTLCaptureDestination destination;
@property(copy, nonatomic) NSURL* outputURL;
@end

@interface MTLCaptureManager : NSObject
+ (MTLCaptureManager*)sharedCaptureManager;
- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device;
- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:(id<MTLCommandQueue>)queue;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError**)error;
- (void)startCaptureWithDevice:(id<MTLDevice>)device;
- (void)startCaptureWithCommandQueue:(id<MTLCommandQueue>)queue;
- (void)startCaptureWithScope:(id<MTLCaptureScope>)scope;
- (void)stopCapture;
@property(retain, nonatomic) id<MTLCaptureScope> defaultCaptureScope;
@property(readonly) BOOL isCapturing;
@end
