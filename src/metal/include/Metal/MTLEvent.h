// What queues and the host wait for.
#pragma once

#import <Metal/MTLTypes.h>

@protocol MTLEvent <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy, atomic) NSString* label;
@end

@interface MTLSharedEventListener : NSObject
+ (MTLSharedEventListener*)sharedListener;
- (instancetype)init;
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)queue;
@property(readonly, nonatomic) dispatch_queue_t dispatchQueue;
@end

@protocol MTLSharedEvent;
typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent>, uint64_t value);

@protocol MTLSharedEvent <MTLEvent>
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;
@property(readwrite) uint64_t signaledValue;
@end

@protocol MTLFence <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy, atomic) NSString* label;
@end
