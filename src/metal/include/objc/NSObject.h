// <objc/NSObject.h>: the root of classes.
#pragma once

#include <objc/objc.h>

#ifdef __OBJC__
@class NSInvocation, NSMethodSignature, NSString, Protocol;
typedef struct _NSZone NSZone;

@protocol NSObject
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
- (NSUInteger)retainCount;
- (BOOL)isEqual:(id)object;
@property(readonly) NSUInteger hash;
@property(readonly) Class superclass;
- (Class)class;
- (instancetype)self;
- (BOOL)isProxy;
- (BOOL)isKindOfClass:(Class)kind;
- (BOOL)isMemberOfClass:(Class)kind;
- (BOOL)conformsToProtocol:(Protocol*)protocol;
- (BOOL)respondsToSelector:(SEL)selector;
- (id)performSelector:(SEL)selector;
- (id)performSelector:(SEL)selector withObject:(id)object;
- (id)performSelector:(SEL)selector withObject:(id)object withObject:(id)other;
@property(readonly, copy) NSString* description;
@optional
@property(readonly, copy) NSString* debugDescription;
@end

__attribute__((objc_root_class)) @interface NSObject <NSObject> {
  Class isa;
  unsigned int _references;
  unsigned int _flags;
  void* _destroy;
}
+ (void)initialize;
+ (instancetype)alloc;
+ (instancetype)allocWithZone:(NSZone*)zone;
+ (instancetype)new;
+ (Class)class;
+ (Class)superclass;
+ (BOOL)isSubclassOfClass:(Class)kind;
+ (BOOL)instancesRespondToSelector:(SEL)selector;
+ (NSString*)description;
- (instancetype)init;
- (void)dealloc;
- (id)copy;
- (id)mutableCopy;
- (IMP)methodForSelector:(SEL)selector;
@end

// Messages that no method answers.
@interface NSObject (Forwarding)
+ (NSMethodSignature*)instanceMethodSignatureForSelector:(SEL)selector;
- (NSMethodSignature*)methodSignatureForSelector:(SEL)selector;
- (id)forwardingTargetForSelector:(SEL)selector;
- (void)forwardInvocation:(NSInvocation*)invocation;
- (void)doesNotRecognizeSelector:(SEL)selector;
@end
#endif
