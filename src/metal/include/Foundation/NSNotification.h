// Who wants to be told of what, within the process.
#pragma once

#import <Foundation/NSDictionary.h>
#import <Foundation/NSString.h>

typedef NSString* NSNotificationName;
@class NSOperationQueue;

@interface NSNotification : NSObject <NSCopying>
+ (instancetype)notificationWithName:(NSNotificationName)name object:(id)object;
+ (instancetype)notificationWithName:(NSNotificationName)name object:(id)object userInfo:(NSDictionary*)info;
@property(readonly, copy) NSNotificationName name;
@property(readonly, retain) id object;
@property(readonly, copy) NSDictionary* userInfo;
@end

// Observers are called by the thread that posts, in the order in which they came. With nil they want any name, or any
// object. They are not kept alive, and those that go must be removed before.
@interface NSNotificationCenter : NSObject
@property(class, readonly, strong) NSNotificationCenter* defaultCenter;
- (void)addObserver:(id)observer selector:(SEL)selector name:(NSNotificationName)name object:(id)object;
#ifdef __BLOCKS__
// What comes back is what to remove. There are no operation queues: `queue` is nil.
- (id<NSObject>)addObserverForName:(NSNotificationName)name
                            object:(id)object
                             queue:(NSOperationQueue*)queue
                        usingBlock:(void (^)(NSNotification* notification))block;
#endif
- (void)removeObserver:(id)observer;
- (void)removeObserver:(id)observer name:(NSNotificationName)name object:(id)object;
- (void)postNotification:(NSNotification*)notification;
- (void)postNotificationName:(NSNotificationName)name object:(id)object;
- (void)postNotificationName:(NSNotificationName)name object:(id)object userInfo:(NSDictionary*)info;
@end
