// Counters: times at which encoders begin and end.
#pragma once

#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

typedef NSString* MTLCommonCounter;
typedef NSString* MTLCommonCounterSet;
FOUNDATION_EXPORT MTLCommonCounter const MTLCommonCounterTimestamp;
FOUNDATION_EXPORT MTLCommonCounterSet const MTLCommonCounterSetTimestamp;
FOUNDATION_EXPORT NSErrorDomain const MTLCounterErrorDomain;

typedef NS_ENUM(NSInteger, MTLCounterSampleBufferError) {
  MTLCounterSampleBufferErrorOutOfMemory,
  MTLCounterSampleBufferErrorInvalid,
  MTLCounterSampleBufferErrorInternal,
};
typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) {
  MTLCounterSamplingPointAtStageBoundary,
  MTLCounterSamplingPointAtDrawBoundary,
  MTLCounterSamplingPointAtDispatchBoundary,
  MTLCounterSamplingPointAtTileDispatchBoundary,
  MTLCounterSamplingPointAtBlitBoundary,
};

// Nanoseconds; MTLCounterErrorValue where nothing was sampled.
typedef struct {
  uint64_t timestamp;
} MTLCounterResultTimestamp;
#define MTLCounterErrorValue ((uint64_t)~0ull)
#define MTLCounterDontSample ((NSUInteger)-1)

@protocol MTLCounter <NSObject>
@property(readonly, copy) NSString* name;
@end

@protocol MTLCounterSet <NSObject>
@property(readonly, copy) NSString* name;
@property(readonly, copy) NSArray<id<MTLCounter>>* counters;
@end

@interface MTLCounterSampleBufferDescriptor : NSObject <NSCopying>
@property(retain) id<MTLCounterSet> counterSet;
@property(copy) NSString* label;
@property MTLStorageMode storageMode;
@property NSUInteger sampleCount;
@end

@protocol MTLCounterSampleBuffer <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString* label;
@property(readonly) NSUInteger sampleCount;
- (NSData*)resolveCounterRange:(NSRange)range;
@end

// Of a pass: where the times of its beginning and its end go, if anywhere.
@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject <NSCopying>
@property(retain, nonatomic) id<MTLCounterSampleBuffer> sampleBuffer;
@property(nonatomic) NSUInteger startOfEncoderSampleIndex;
@property(nonatomic) NSUInteger endOfEncoderSampleIndex;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject
- (MTLComputePassSampleBufferAttachmentDescriptor*)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(MTLComputePassSampleBufferAttachmentDescriptor*)attachment atIndexedSubscript:(NSUInteger)index;
@end
