// Types and words that all of Foundation uses.
#pragma once

#include <Availability.h>
#include <TargetConditionals.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <objc/NSObject.h>
#include <objc/objc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef double NSTimeInterval;
#include <CoreFoundation/CoreFoundation.h>
typedef unsigned short unichar;
typedef NSInteger NSComparisonResult;
enum : NSComparisonResult { NSOrderedAscending = -1, NSOrderedSame = 0, NSOrderedDescending = 1 };
#define NSIntegerMax INT64_MAX
#define NSIntegerMin INT64_MIN
#define NSUIntegerMax UINT64_MAX
static const NSUInteger NSNotFound = NSIntegerMax;
// After `typedef`. Options are combined, which C++ allows numbers only.
#define NS_ENUM(type, name) enum name : type name; enum name : type
#ifdef __cplusplus
#define NS_OPTIONS(type, name) type name; enum : type
#else
#define NS_OPTIONS(type, name) enum name : type name; enum name : type
#endif
#define NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_END
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_RETURNS_NOT_RETAINED __attribute__((ns_returns_not_retained))
#define NS_DESIGNATED_INITIALIZER
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_REQUIRES_NIL_TERMINATION __attribute__((sentinel))
#define FOUNDATION_EXPORT OBJC_EXTERN
#define FOUNDATION_EXTERN OBJC_EXTERN
#define NS_INLINE static inline
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ABS(a) ((a) < 0 ? -(a) : (a))
#endif

typedef struct _NSRange {
  NSUInteger location;
  NSUInteger length;
} NSRange;
static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  NSRange range = {location, length};
  return range;
}
static inline NSUInteger NSMaxRange(NSRange range) { return range.location + range.length; }

typedef struct {
  unsigned long state;
  id __unsafe_unretained* itemsPtr;
  unsigned long* mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;

@class NSArray<ObjectType>, NSBundle, NSData, NSDate, NSDictionary<KeyType, ObjectType>, NSError, NSString, NSURL;

@protocol NSCopying
- (id)copy;
@end
@protocol NSMutableCopying
- (id)mutableCopy;
@end

@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained*)buffer
                                    count:(NSUInteger)length;
@end

@interface NSAutoreleasePool : NSObject
+ (void)addObject:(id)object;
- (void)drain;
@end

FOUNDATION_EXPORT void NSLog(NSString* format, ...) __attribute__((format(__NSString__, 1, 2)));
FOUNDATION_EXPORT Class NSClassFromString(NSString* name);
FOUNDATION_EXPORT NSString* NSStringFromClass(Class one);
FOUNDATION_EXPORT SEL NSSelectorFromString(NSString* name);
FOUNDATION_EXPORT NSString* NSStringFromSelector(SEL selector);
FOUNDATION_EXPORT NSString* NSTemporaryDirectory(void);
FOUNDATION_EXPORT NSString* NSHomeDirectory(void);
