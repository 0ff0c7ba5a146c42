// Exceptions and assertions.
#pragma once

#import <Foundation/NSDictionary.h>
#import <Foundation/NSString.h>
#import <Foundation/NSValue.h>

typedef NSString* NSExceptionName;

FOUNDATION_EXPORT NSExceptionName const NSGenericException;
FOUNDATION_EXPORT NSExceptionName const NSRangeException;
FOUNDATION_EXPORT NSExceptionName const NSInvalidArgumentException;
FOUNDATION_EXPORT NSExceptionName const NSInternalInconsistencyException;
FOUNDATION_EXPORT NSExceptionName const NSMallocException;
FOUNDATION_EXPORT NSExceptionName const NSObjectInaccessibleException;
FOUNDATION_EXPORT NSExceptionName const NSObjectNotAvailableException;
FOUNDATION_EXPORT NSExceptionName const NSDestinationInvalidException;
FOUNDATION_EXPORT NSExceptionName const NSInvalidReceivePortException;
FOUNDATION_EXPORT NSExceptionName const NSUndefinedKeyException;

@interface NSException : NSObject <NSCopying>
+ (NSException*)exceptionWithName:(NSExceptionName)name reason:(NSString*)reason userInfo:(NSDictionary*)info;
- (instancetype)initWithName:(NSExceptionName)name reason:(NSString*)reason userInfo:(NSDictionary*)info;
@property(readonly, copy) NSExceptionName name;
@property(readonly, copy) NSString* reason;
@property(readonly, copy) NSDictionary* userInfo;
// Of where it was thrown first; empty before that.
@property(readonly, copy) NSArray<NSNumber*>* callStackReturnAddresses;
@property(readonly, copy) NSArray<NSString*>* callStackSymbols;
- (void)raise;
+ (void)raise:(NSExceptionName)name format:(NSString*)format, ... __attribute__((format(__NSString__, 2, 3)));
+ (void)raise:(NSExceptionName)name format:(NSString*)format arguments:(va_list)arguments;
@end

// Called with what nobody catches, before the process ends.
typedef void NSUncaughtExceptionHandler(NSException* exception);
FOUNDATION_EXPORT NSUncaughtExceptionHandler* NSGetUncaughtExceptionHandler(void);
FOUNDATION_EXPORT void NSSetUncaughtExceptionHandler(NSUncaughtExceptionHandler* handler);

// An assertion that does not hold says where, and raises an NSInternalInconsistencyException.
@interface NSAssertionHandler : NSObject
@property(class, readonly, strong) NSAssertionHandler* currentHandler;
- (void)handleFailureInMethod:(SEL)selector
                       object:(id)object
                         file:(NSString*)file
                   lineNumber:(NSInteger)line
                  description:(NSString*)format, ... __attribute__((format(__NSString__, 5, 6)));
- (void)handleFailureInFunction:(NSString*)function
                           file:(NSString*)file
                     lineNumber:(NSInteger)line
                    description:(NSString*)format, ... __attribute__((format(__NSString__, 4, 5)));
@end

#ifdef NS_BLOCK_ASSERTIONS
#define NSAssert(condition, ...) ((void)0)
#define NSCAssert(condition, ...) ((void)0)
#else
#define NSAssert(condition, ...)                                                                            \
  ((condition) ? (void)0                                                                                    \
               : [[NSAssertionHandler currentHandler] handleFailureInMethod:_cmd                            \
                                                                     object:self                            \
                                                                       file:[NSString stringWithUTF8String:__FILE__] \
                                                                 lineNumber:__LINE__                        \
                                                                description:__VA_ARGS__])
#define NSCAssert(condition, ...)                                                                             \
  ((condition) ? (void)0                                                                                      \
               : [[NSAssertionHandler currentHandler]                                                         \
                     handleFailureInFunction:[NSString stringWithUTF8String:__PRETTY_FUNCTION__]              \
                                        file:[NSString stringWithUTF8String:__FILE__]                         \
                                  lineNumber:__LINE__                                                         \
                                 description:__VA_ARGS__])
#endif
#define NSParameterAssert(condition) NSAssert((condition), @"Invalid parameter not satisfying: %@", @ #condition)
#define NSCParameterAssert(condition) NSCAssert((condition), @"Invalid parameter not satisfying: %@", @ #condition)
