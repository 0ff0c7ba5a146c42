// What the files of Metal's protocols share.
#pragma once

#import <Metal/Metal.h>

#include <array>
#include <exception>
#include <memory>

#include "metal/foundation/foundation.h"
#include "metalloid/metal/host.h"
#include "metalloid/metal/objects.h"

namespace metalloid::metal {

using objective_c::string_of;
using objective_c::text_of;

inline std::array<std::uint64_t, 3> extents(MTLSize size) { return {size.width, size.height, size.depth}; }

template <typename T>
T& self_as(id self) {
  return *object_of<T>((__bridge void*)self);
}

// What Metal reports through an NSError**, in the domain of libraries; nil, if there is nothing, since programs ask a
// variable that they have not set.
NSError* library_error(const std::exception& failure);
template <typename Make>
id reported(NSError** error, const Make& make) {
  if (error) *error = nil;
  try {
    return (id)make();
  } catch (const std::exception& failure) {
    if (error) *error = library_error(failure);
    return nil;
  }
}

// An object of Objective-C that C++ keeps.
inline std::shared_ptr<void> held(id object) {
  return {objc_retain((__bridge void*)object), [](void* one) { objc_release(one); }};
}

// A block that C++ keeps, as an object.
inline std::shared_ptr<void> copied(id block) {
  return {_Block_copy((__bridge void*)block), [](void* one) { _Block_release(one); }};
}

// A program's block, called by a thread that is not the program's: what it throws ends the process, as on a Mac, if
// there is no host who wants it.
template <typename Call>
void call_back(const Call& call) {
  if (host().raise_fault) return call();
  [&]() noexcept { call(); }();
}

// buffers.mm, command_queues.mm, logs.mm
id<MTLBuffer> new_buffer(DeviceObject& device, NSUInteger length, MTLResourceOptions options);
// The caller's memory, which `owner` keeps.
id<MTLBuffer> wrap_memory(DeviceObject& device, void* memory, NSUInteger length, MTLResourceOptions options,
                          std::shared_ptr<void> owner);
void count_encoder(EncoderObject& encoder);
void use_log(CommandBufferObject& commands, bool begins);

}  // namespace metalloid::metal

// What a device makes that needs no more than to be there, and what stands on it.
@interface MetalloidPart : NSObject {
 @public
  id<MTLDevice> owner;
}
@property(copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
@end

// A label that C++ keeps.
#define METALLOID_LABEL(Type)                                \
  -(NSString*)label {                                        \
    const std::string& text = self_as<Type>(self).label;     \
    return text.empty() ? nil : string_of(text);             \
  }                                                          \
  -(void)setLabel : (NSString*)label {                       \
    self_as<Type>(self).label = std::string(text_of(label)); \
  }
