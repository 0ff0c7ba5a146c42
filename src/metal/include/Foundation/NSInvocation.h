// A message as an object: of a type that is known at run time, or on its way to somebody else.
#pragma once

#import <Foundation/NSMethodSignature.h>

@interface NSInvocation : NSObject
+ (NSInvocation*)invocationWithMethodSignature:(NSMethodSignature*)signature;
@property(readonly, retain) NSMethodSignature* methodSignature;
@property(assign) id target;
@property SEL selector;
- (void)getArgument:(void*)to atIndex:(NSInteger)index;
- (void)setArgument:(void*)from atIndex:(NSInteger)index;
- (void)getReturnValue:(void*)to;
- (void)setReturnValue:(void*)from;
- (void)retainArguments;
@property(readonly) BOOL argumentsRetained;
- (void)invoke;
- (void)invokeWithTarget:(id)target;
@end
