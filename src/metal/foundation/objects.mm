// NSObject, pools, and blocks as objects.
#import <Foundation/Foundation.h>
#import <objc/runtime.h>

#include "metal/foundation/foundation.h"
#include "metalloid/metal/object.h"

namespace runtime = metalloid::objective_c;
using metalloid::metal::Object;

namespace {

bool is_kind(Class one, Class kind) {
  return runtime::is_kind((__bridge runtime::Class*)one, (__bridge runtime::Class*)kind);
}

template <typename Function>
Function* code_of(id receiver, SEL selector) {
  const runtime::Method code =
      objc_msg_lookup((__bridge void*)receiver, reinterpret_cast<runtime::Selector*>(selector));
  return reinterpret_cast<Function*>(reinterpret_cast<void*>(code));
}

}  // namespace

@implementation NSObject
+ (void)initialize {
}
+ (instancetype)alloc {
  return (__bridge id)runtime::create_instance((__bridge runtime::Class*)self);
}
+ (instancetype)allocWithZone:(NSZone*)zone {
  return [self alloc];
}
+ (instancetype)new {
  return [[self alloc] init];
}
+ (Class)class {
  return (Class)self;
}
+ (Class)superclass {
  return class_getSuperclass((Class)self);
}
+ (instancetype)retain {
  return (id)self;
}
+ (void)release {
}
+ (instancetype)autorelease {
  return (id)self;
}
+ (BOOL)isSubclassOfClass:(Class)kind {
  return is_kind((Class)self, kind);
}
+ (BOOL)instancesRespondToSelector:(SEL)selector {
  return class_getInstanceMethod((Class)self, selector) != nullptr;
}
+ (NSString*)description {
  return [NSString stringWithUTF8String:class_getName((Class)self)];
}
- (instancetype)init {
  return self;
}
- (void)dealloc {
  runtime::destroy_instance((__bridge void*)self);
}
- (instancetype)retain {
  metalloid::metal::retain((__bridge Object*)self);
  return self;
}
- (void)release {
  metalloid::metal::release((__bridge Object*)self);
}
- (instancetype)autorelease {
  runtime::autorelease((__bridge void*)self);
  return self;
}
- (NSUInteger)retainCount {
  return ((__bridge Object*)self)->references;
}
- (id)copy {
  return [self retain];
}
- (id)mutableCopy {
  return [self copy];
}
- (BOOL)isEqual:(id)object {
  return self == object;
}
- (NSUInteger)hash {
  return reinterpret_cast<NSUInteger>(self) / 16;
}
- (Class)class {
  return object_getClass(self);
}
- (BOOL)isKindOfClass:(Class)kind {
  return is_kind(object_getClass(self), kind);
}
- (BOOL)isMemberOfClass:(Class)kind {
  return object_getClass(self) == kind;
}
- (Class)superclass {
  return class_getSuperclass(object_getClass(self));
}
- (BOOL)isProxy {
  return NO;
}
// What a protocol asks is answered by its methods.
- (BOOL)conformsToProtocol:(Protocol*)protocol {
  return YES;
}
- (BOOL)respondsToSelector:(SEL)selector {
  return runtime::responds(self, selector);
}
- (id)performSelector:(SEL)selector {
  return code_of<id(id, SEL)>(self, selector)(self, selector);
}
- (id)performSelector:(SEL)selector withObject:(id)object {
  return code_of<id(id, SEL, id)>(self, selector)(self, selector, object);
}
- (id)performSelector:(SEL)selector withObject:(id)object withObject:(id)other {
  return code_of<id(id, SEL, id, id)>(self, selector)(self, selector, object, other);
}
- (IMP)methodForSelector:(SEL)selector {
  return code_of<id(id, SEL, ...)>(self, selector);
}
- (instancetype)self {
  return self;
}
- (NSString*)description {
  return [NSString stringWithFormat:@"<%s: %p>", class_getName(object_getClass(self)), self];
}
@end

@implementation NSAutoreleasePool {
  void* place;
}
- (instancetype)init {
  place = runtime::push_pool();
  return self;
}
+ (void)addObject:(id)object {
  runtime::autorelease((__bridge void*)object);
}
- (void)drain {
  [self release];
}
- (void)dealloc {
  runtime::pop_pool(place);
  [super dealloc];
}
@end

@interface MetalloidBlock : NSObject
@end
@implementation MetalloidBlock
- (id)copy {
  return (id)_Block_copy((__bridge void*)self);
}
- (instancetype)retain {
  return (id)_Block_copy((__bridge void*)self);
}
- (void)release {
  _Block_release((__bridge void*)self);
}
@end

// Dispatch's objects are C++'s; these are their classes.
@interface MetalloidDispatchQueue : NSObject
@end
@implementation MetalloidDispatchQueue
@end
@interface MetalloidDispatchGroup : NSObject
@end
@implementation MetalloidDispatchGroup
@end
@interface MetalloidDispatchSemaphore : NSObject
@end
@implementation MetalloidDispatchSemaphore
@end
@interface MetalloidDispatchData : NSObject
@end
@implementation MetalloidDispatchData
@end

// Objects that programs name by a symbol: nothing counts them.
@interface MetalloidConstant : NSObject
@end
@implementation MetalloidConstant
+ (void)load {
  for (void* one : {_dispatch_queue_attr_concurrent, _dispatch_data_empty, _dispatch_main_q}) {
    runtime::add_constant(static_cast<void**>(one), (__bridge runtime::Class*)self);
  }
}
- (instancetype)retain {
  return self;
}
- (void)release {
}
- (instancetype)autorelease {
  return self;
}
@end

Class NSClassFromString(NSString* name) { return objc_getClass([name UTF8String]); }
NSString* NSStringFromClass(Class one) { return [NSString stringWithUTF8String:class_getName(one)]; }
SEL NSSelectorFromString(NSString* name) { return sel_registerName([name UTF8String]); }
NSString* NSStringFromSelector(SEL selector) { return [NSString stringWithUTF8String:sel_getName(selector)]; }
