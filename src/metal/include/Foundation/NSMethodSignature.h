// The types of a method's arguments and of its result.
#pragma once

#import <Foundation/NSObjCRuntime.h>

@interface NSMethodSignature : NSObject
+ (NSMethodSignature*)signatureWithObjCTypes:(const char*)types;
@property(readonly) NSUInteger numberOfArguments;  // with the receiver and the selector
- (const char*)getArgumentTypeAtIndex:(NSUInteger)index;
@property(readonly) NSUInteger frameLength;
@property(readonly) const char* methodReturnType;
@property(readonly) NSUInteger methodReturnLength;
- (BOOL)isOneway;
@end
