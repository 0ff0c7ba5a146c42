// NSObject, pools, and blocks as objects.
#import <Foundation/Foundation.h>

#include <vector>

#include "host/metal_objects.h"
#include "host/objc/foundation.h"

using metalloid::torch_host::Kind;
using metalloid::torch_host::Object;

extern "C" {
Class object_getClass(id object);
Class class_getSuperclass(Class one);
const char* class_getName(Class one);
Class objc_getClass(const char* name);
}

namespace {

thread_local NSAutoreleasePool* innermost_pool = nil;

long size_of(Class one) { return reinterpret_cast<metalloid::objective_c::Class*>(one)->instance_size; }

bool is_kind(Class one, Class kind) {
  for (; one; one = class_getSuperclass(one)) {
    if (one == kind) return true;
  }
  return false;
}

}  // namespace

@interface NSAutoreleasePool (Held)
- (void)addObject:(id)object;
@end

@implementation NSObject
+ (instancetype)alloc {
  auto* object =
      static_cast<Object*>(metalloid::torch_host::allocate_object(static_cast<size_t>(size_of((Class)self))));
  object->isa = (__bridge void*)self;
  object->references = 1;
  object->destroy = [](Object* one) { [(id)one dealloc]; };
  return (id)object;
}
+ (instancetype)new {
  return [[self alloc] init];
}
+ (Class)class {
  return (Class)self;
}
+ (instancetype)retain {
  return (id)self;
}
+ (void)release {
}
+ (BOOL)isSubclassOfClass:(Class)kind {
  return is_kind((Class)self, kind);
}
- (instancetype)init {
  return self;
}
- (void)dealloc {
  metalloid::torch_host::free_object(self, static_cast<size_t>(size_of(object_getClass(self))));
}
- (instancetype)retain {
  metalloid::torch_host::retain(reinterpret_cast<Object*>(self));
  return self;
}
- (void)release {
  metalloid::torch_host::release(reinterpret_cast<Object*>(self));
}
- (instancetype)autorelease {
  // Without a pool it lives on, as on a Mac.
  if (innermost_pool) [innermost_pool addObject:self];
  return self;
}
- (NSUInteger)retainCount {
  return reinterpret_cast<Object*>(self)->references;
}
- (id)copy {
  return [self retain];
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
- (BOOL)respondsToSelector:(SEL)selector {
  return metalloid::objective_c::responds(self, selector);
}
- (id)performSelector:(SEL)selector {
  return reinterpret_cast<id (*)(id, SEL)>(
      objc_msg_lookup(self, reinterpret_cast<metalloid::objective_c::Selector*>(selector)))(self, selector);
}
- (instancetype)self {
  return self;
}
- (NSString*)description {
  return [NSString stringWithFormat:@"<%s: %p>", class_getName(object_getClass(self)), self];
}
@end

@implementation NSAutoreleasePool
- (instancetype)init {
  objects = new std::vector<id>;
  outer = innermost_pool;
  innermost_pool = self;
  return self;
}
- (void)addObject:(id)object {
  static_cast<std::vector<id>*>(objects)->push_back(object);
}
- (void)drain {
  [self release];
}
- (void)dealloc {
  auto* held = static_cast<std::vector<id>*>(objects);
  // Objects may come while others go.
  while (!held->empty()) {
    id last = held->back();
    held->pop_back();
    [last release];
  }
  innermost_pool = outer;
  delete held;
  [super dealloc];
}
@end

extern "C" {
__attribute__((visibility("default"))) void* objc_autoreleasePoolPush(void) { return [[NSAutoreleasePool alloc] init]; }
__attribute__((visibility("default"))) void objc_autoreleasePoolPop(void* pool) { [(id)pool drain]; }
}

// What automatic reference counting (-fobjc-arc) calls.
extern "C" {
#define EXPORTED __attribute__((visibility("default")))
EXPORTED id objc_retain(id object) { return [object retain]; }
EXPORTED void objc_release(id object) { [object release]; }
EXPORTED id objc_autorelease(id object) { return [object autorelease]; }
EXPORTED id objc_retainAutorelease(id object) { return [[object retain] autorelease]; }
EXPORTED id objc_autoreleaseReturnValue(id object) { return [object autorelease]; }
EXPORTED id objc_retainAutoreleaseReturnValue(id object) { return [[object retain] autorelease]; }
EXPORTED id objc_retainAutoreleasedReturnValue(id object) { return [object retain]; }
EXPORTED id objc_unsafeClaimAutoreleasedReturnValue(id object) { return object; }
EXPORTED id objc_retainBlock(id block) { return (id)_Block_copy((__bridge void*)block); }
EXPORTED void objc_storeStrong(id* place, id object) {
  id before = *place;
  *place = [object retain];
  [before release];
}
}

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

id NSClassFromString(NSString* name) { return (id)objc_getClass([name UTF8String]); }
