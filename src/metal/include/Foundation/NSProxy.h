// A root class that stands for another object: it hands on the messages that it gets.
#pragma once

#import <Foundation/NSInvocation.h>

__attribute__((objc_root_class)) @interface NSProxy <NSObject> {
  Class isa;
  unsigned int _references;
  unsigned int _flags;
  void* _destroy;
}
+ (instancetype)alloc;
+ (Class)class;
+ (BOOL)respondsToSelector:(SEL)selector;
- (void)dealloc;
- (NSMethodSignature*)methodSignatureForSelector:(SEL)selector;
- (void)forwardInvocation:(NSInvocation*)invocation;
@property(readonly, copy) NSString* description;
@property(readonly, copy) NSString* debugDescription;
@end
