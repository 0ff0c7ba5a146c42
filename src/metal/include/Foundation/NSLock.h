// Locks, threads, dates.
#pragma once

#import <Foundation/NSObjCRuntime.h>

@protocol NSLocking
- (void)lock;
- (void)unlock;
@end

@interface NSLock : NSObject <NSLocking>
- (BOOL)tryLock;
@property(copy) NSString* name;
@end

@interface NSRecursiveLock : NSObject <NSLocking>
- (BOOL)tryLock;
@property(copy) NSString* name;
@end

@interface NSCondition : NSObject <NSLocking>
- (void)wait;
- (BOOL)waitUntilDate:(NSDate*)date;
- (void)signal;
- (void)broadcast;
@property(copy) NSString* name;
@end

@interface NSDate : NSObject <NSCopying>
+ (instancetype)date;
+ (instancetype)dateWithTimeIntervalSinceNow:(NSTimeInterval)seconds;
+ (instancetype)dateWithTimeIntervalSince1970:(NSTimeInterval)seconds;
@property(readonly) NSTimeInterval timeIntervalSince1970;
@property(readonly) NSTimeInterval timeIntervalSinceNow;
@property(readonly) NSTimeInterval timeIntervalSinceReferenceDate;
- (NSTimeInterval)timeIntervalSinceDate:(NSDate*)other;
@end

@interface NSThread : NSObject
+ (NSThread*)currentThread;
+ (BOOL)isMainThread;
+ (void)sleepForTimeInterval:(NSTimeInterval)seconds;
@end
