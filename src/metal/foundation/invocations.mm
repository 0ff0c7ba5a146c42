// NSMethodSignature and NSInvocation, and what becomes of messages that no method answers.
#include <fmt/format.h>
#import <objc/runtime.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "metal/foundation/foundation.h"
#include "metal/objc/calls.h"
#include "metalloid/metal/object.h"

namespace runtime = metalloid::objective_c;
using metalloid::objective_c::raise_invalid_argument;

@interface NSInvocation (Values)
- (std::string&)valueAt:(NSInteger)index method:(const char*)method;
- (void)keepValueAt:(NSInteger)index;
- (std::vector<void*>)places;
@end

@implementation NSMethodSignature {
 @public
  std::vector<runtime::Type> types;  // of the result, then of the arguments
}
+ (NSMethodSignature*)signatureWithObjCTypes:(const char*)encoding {
  if (!encoding) raise_invalid_argument("*** +[NSMethodSignature signatureWithObjCTypes:]: NULL types");
  NSMethodSignature* one = [[[self alloc] init] autorelease];
  one->types = runtime::types_of_method(encoding);
  if (one->types.empty()) raise_invalid_argument("*** +[NSMethodSignature signatureWithObjCTypes:]: no types");
  return one;
}
- (NSUInteger)numberOfArguments {
  return types.size() - 1;
}
- (const char*)getArgumentTypeAtIndex:(NSUInteger)index {
  if (index >= [self numberOfArguments]) {
    raise_invalid_argument(
        fmt::format("*** -[NSMethodSignature getArgumentTypeAtIndex:]: index ({}) out of bounds [0, {}]", index,
                    static_cast<long>([self numberOfArguments]) - 1));
  }
  return types[index + 1].encoding.c_str();
}
- (NSUInteger)frameLength {
  NSUInteger length = 0;
  for (std::size_t i = 1; i < types.size(); ++i) length += (types[i].size + 7) / 8 * 8;
  return length;
}
- (const char*)methodReturnType {
  return types[0].encoding.c_str();
}
- (NSUInteger)methodReturnLength {
  return types[0].size;
}
- (BOOL)isOneway {
  return NO;
}
- (BOOL)isEqual:(id)other {
  if (![other isKindOfClass:[NSMethodSignature class]]) return NO;
  return std::ranges::equal(types, ((NSMethodSignature*)other)->types,
                            [](const auto& a, const auto& b) { return a.encoding == b.encoding; });
}
- (NSUInteger)hash {
  return types.size();
}
@end

@implementation NSInvocation {
 @public
  NSMethodSignature* signature;
  std::vector<std::string> values;  // the result's, then the arguments'
  std::vector<id> kept;
  bool keeps;
}
@synthesize methodSignature = signature;
+ (NSInvocation*)invocationWithMethodSignature:(NSMethodSignature*)signature {
  if (!signature)
    raise_invalid_argument(
        "*** +[NSInvocation invocationWithMethodSignature:]: method signature argument cannot be nil");
  const std::span<const runtime::Type> types = signature->types;
  const std::string problem =
      types.size() < 3 ? "there is no receiver and no selector" : runtime::why_not_callable(types[0], types.subspan(1));
  if (!problem.empty()) raise_invalid_argument("*** +[NSInvocation invocationWithMethodSignature:]: " + problem);
  NSInvocation* one = [[[self alloc] init] autorelease];
  one->signature = [signature retain];
  for (const runtime::Type& type : types) one->values.emplace_back(type.size, '\0');
  return one;
}
- (void)dealloc {
  [signature release];
  for (id one : kept) [one release];
  [super dealloc];
}
- (std::string&)valueAt:(NSInteger)index method:(const char*)method {
  if (index < -1 || index + 1 >= static_cast<NSInteger>(values.size())) {
    raise_invalid_argument(fmt::format("*** -[NSInvocation {}]: index ({}) out of bounds [-1, {}]", method, index,
                                       static_cast<long>(values.size()) - 2));
  }
  return values[static_cast<std::size_t>(index + 1)];
}
// Objects for as long as the invocation, and texts as they are now.
- (void)keepValueAt:(NSInteger)index {
  const runtime::Type& type = signature->types[static_cast<std::size_t>(index + 1)];
  if (type.encoding.empty()) return;
  void*& value = *reinterpret_cast<void**>(values[static_cast<std::size_t>(index + 1)].data());
  if (type.encoding[0] == '@' && value) {
    kept.push_back(type.encoding.starts_with("@?") ? (id)_Block_copy(value) : [(id)value retain]);
    value = (__bridge void*)kept.back();
  } else if (type.encoding[0] == '*' && value) {
    NSData* copy = [[NSData alloc] initWithBytes:value length:std::strlen(static_cast<const char*>(value)) + 1];
    kept.push_back(copy);
    value = const_cast<void*>([copy bytes]);
  }
}
- (void)getArgument:(void*)to atIndex:(NSInteger)index {
  const std::string& value = [self valueAt:index method:"getArgument:atIndex:"];
  std::memcpy(to, value.data(), value.size());
}
- (void)setArgument:(void*)from atIndex:(NSInteger)index {
  std::string& value = [self valueAt:index method:"setArgument:atIndex:"];
  std::memcpy(value.data(), from, value.size());
  if (keeps) [self keepValueAt:index];
}
- (void)getReturnValue:(void*)to {
  [self getArgument:to atIndex:-1];
}
- (void)setReturnValue:(void*)from {
  [self setArgument:from atIndex:-1];
}
- (id)target {
  id target = nil;
  [self getArgument:&target atIndex:0];
  return target;
}
- (void)setTarget:(id)target {
  [self setArgument:&target atIndex:0];
}
- (SEL)selector {
  SEL selector = nullptr;
  [self getArgument:&selector atIndex:1];
  return selector;
}
- (void)setSelector:(SEL)selector {
  [self setArgument:&selector atIndex:1];
}
- (void)retainArguments {
  if (keeps) return;
  keeps = true;
  for (NSInteger index = -1; index + 1 < static_cast<NSInteger>(values.size()); ++index) [self keepValueAt:index];
}
- (BOOL)argumentsRetained {
  return keeps;
}
- (std::vector<void*>)places {
  std::vector<void*> places;
  for (std::size_t i = 1; i < values.size(); ++i) places.push_back(values[i].data());
  return places;
}
- (void)invoke {
  if (![self selector]) raise_invalid_argument("*** -[NSInvocation invoke]: selector is NULL");
  std::ranges::fill(values[0], '\0');
  if (![self target]) return;
  const std::span<const runtime::Type> types = signature->types;
  const std::vector<void*> places = [self places];
  runtime::send_message(types[0], types.subspan(1), places, values[0].data());
  if (keeps) [self keepValueAt:-1];
}
- (void)invokeWithTarget:(id)target {
  [self setTarget:target];
  [self invoke];
}
@end

namespace {

NSMethodSignature* signature_of(Class one, SEL selector) {
  const char* types = method_getTypeEncoding(class_getInstanceMethod(one, selector));
  return types ? [NSMethodSignature signatureWithObjCTypes:types] : nil;
}

[[noreturn]] void refuse(id receiver, SEL selector) {
  runtime::refuse((__bridge void*)receiver, reinterpret_cast<runtime::Selector*>(selector));
}

// Objects that cannot say what their messages are like do not hand them on.
void* forward(void* receiver_address, runtime::Selector* asked, runtime::Registers& registers) {
  id receiver = (__bridge id)receiver_address;
  const auto selector = reinterpret_cast<SEL>(asked);
  if (runtime::responds(receiver, @selector(forwardingTargetForSelector:))) {
    id target = [receiver forwardingTargetForSelector:selector];
    if (target && target != receiver) return (__bridge void*)target;
  }
  if (!runtime::responds(receiver, @selector(methodSignatureForSelector:)) ||
      !runtime::responds(receiver, @selector(forwardInvocation:))) {
    refuse(receiver, selector);
  }
  NSMethodSignature* signature = [receiver methodSignatureForSelector:selector];
  if (!signature) {
    if (runtime::responds(receiver, @selector(doesNotRecognizeSelector:))) [receiver doesNotRecognizeSelector:selector];
    refuse(receiver, selector);
  }
  NSInvocation* invocation = [NSInvocation invocationWithMethodSignature:signature];
  const std::span<const runtime::Type> types = signature->types;
  runtime::read_arguments(registers, types[0], types.subspan(1), [invocation places]);
  [receiver forwardInvocation:invocation];
  runtime::write_result(registers, types[0], invocation->values[0].data());
  return nullptr;
}

}  // namespace

@implementation NSObject (Forwarding)
+ (void)load {
  runtime::set_forwarder(&forward);
}
+ (NSMethodSignature*)instanceMethodSignatureForSelector:(SEL)selector {
  return signature_of((Class)self, selector);
}
- (NSMethodSignature*)methodSignatureForSelector:(SEL)selector {
  return signature_of(object_getClass(self), selector);
}
- (id)forwardingTargetForSelector:(SEL)selector {
  return nil;
}
- (void)forwardInvocation:(NSInvocation*)invocation {
  [self doesNotRecognizeSelector:[invocation selector]];
}
- (void)doesNotRecognizeSelector:(SEL)selector {
  refuse(self, selector);
}
@end

// All else of the protocol goes to whom it stands for.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wprotocol"
@implementation NSProxy
+ (void)initialize {
}
+ (instancetype)alloc {
  return (__bridge id)runtime::create_instance((__bridge runtime::Class*)self);
}
+ (Class)class {
  return (Class)self;
}
+ (BOOL)respondsToSelector:(SEL)selector {
  return class_respondsToSelector(object_getClass((id)self), selector);
}
- (void)dealloc {
  runtime::destroy_instance((__bridge void*)self);
}
- (instancetype)retain {
  metalloid::metal::retain((__bridge metalloid::metal::Object*)self);
  return self;
}
- (void)release {
  metalloid::metal::release((__bridge metalloid::metal::Object*)self);
}
- (instancetype)autorelease {
  runtime::autorelease((__bridge void*)self);
  return self;
}
- (NSUInteger)retainCount {
  return ((__bridge metalloid::metal::Object*)self)->references;
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
- (Class)superclass {
  return class_getSuperclass(object_getClass(self));
}
- (instancetype)self {
  return self;
}
- (BOOL)isProxy {
  return YES;
}
- (NSString*)description {
  return [NSString stringWithFormat:@"<%s: %p>", object_getClassName(self), self];
}
- (NSString*)debugDescription {
  return [self description];
}
- (NSMethodSignature*)methodSignatureForSelector:(SEL)selector {
  raise_invalid_argument("*** -[NSProxy methodSignatureForSelector:] called!");
}
- (void)forwardInvocation:(NSInvocation*)invocation {
  raise_invalid_argument("*** -[NSProxy forwardInvocation:] called!");
}
@end
#pragma clang diagnostic pop
