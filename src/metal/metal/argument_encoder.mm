// An argument buffer is a structure in memory: a pointer's place holds its address. Places count as Metal counts them
// where a structure numbers none of its own: members in their order, each element of an array.
#include "metal/metal/argument_encoder.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

#include "metalloid/metal/host.h"

namespace {

using metalloid::TypeInfo;
using metalloid::metal::fail;
using metalloid::metal::Fault;

void add_places(const TypeInfo& type, std::uint64_t begin, std::vector<std::uint64_t>& places) {
  const std::uint64_t count = std::max<std::uint64_t>(type.array_length, 1), size = type.size / count;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (type.members.empty()) places.push_back(begin + i * size);
    for (const metalloid::StructMember& member : type.members) {
      add_places(member.type.front(), begin + i * size + member.offset, places);
    }
  }
}

}  // namespace

@interface MetalloidArgumentEncoder : NSObject <MTLArgumentEncoder> {
  std::vector<std::uint64_t>* places;  // bytes from the structure's begin
  NSUInteger length, boundary;
  id<MTLBuffer> memory;
  NSUInteger begin;
}
- (instancetype)initWithType:(const TypeInfo*)type;
@end

@implementation MetalloidArgumentEncoder
- (instancetype)initWithType:(const TypeInfo*)type {
  places = new std::vector<std::uint64_t>;
  add_places(*type, 0, *places);
  length = type->size;
  boundary = type->alignment;
  return self;
}
- (void)dealloc {
  [memory release];
  delete places;
  [super dealloc];
}
- (NSUInteger)encodedLength {
  return length;
}
- (NSUInteger)alignment {
  return boundary;
}
- (id<MTLDevice>)device {
  return (id)metalloid::metal::default_device();
}
- (NSString*)label {
  return @"";
}
- (void)setLabel:(NSString*)label {
}
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset {
  const metalloid::Buffer target = metalloid::metal::memory_of((__bridge void*)buffer);
  if (offset > target.size() || length > target.size() - offset) {
    fail(Fault::value, fmt::format("an argument buffer of {} bytes from {} on leaves a buffer of {}", length, offset,
                                   target.size()));
  }
  [buffer retain];
  [memory release];
  memory = buffer;
  begin = offset;
}
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer startOffset:(NSUInteger)offset arrayElement:(NSUInteger)element {
  [self setArgumentBuffer:buffer offset:offset + element * length];
}
- (void*)constantDataAtIndex:(NSUInteger)index {
  if (!memory) fail(Fault::value, "no argument buffer is set");
  if (index >= places->size()) {
    fail(Fault::index, fmt::format("the argument buffer has {} places, not one of index {}", places->size(), index));
  }
  return static_cast<char*>(metalloid::metal::memory_of((__bridge void*)memory).contents()) + begin +
         (*places)[index];
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  const char* address = nullptr;
  if (buffer) {
    const metalloid::Buffer target = metalloid::metal::memory_of((__bridge void*)buffer);
    if (offset > target.size()) {
      fail(Fault::value, fmt::format("offset {} leaves a buffer of {} bytes", offset, target.size()));
    }
    address = static_cast<const char*>(target.contents()) + offset;
  }
  std::memcpy([self constantDataAtIndex:index], &address, sizeof(address));
}
- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)range {
  for (NSUInteger i = 0; i < range.length; ++i) {
    [self setBuffer:buffers[i] offset:offsets[i] atIndex:range.location + i];
  }
}
@end

namespace metalloid::metal {

id<MTLArgumentEncoder> new_argument_encoder(FunctionObject& function, unsigned index) {
  for (const ArgumentInfo& argument : function.kernel().info().arguments) {
    if (argument.kind != ArgumentKind::buffer || argument.index != index || argument.type.members.empty()) continue;
    return [[MetalloidArgumentEncoder alloc] initWithType:&argument.type];
  }
  fail(Fault::value, fmt::format("kernel '{}' has no structure at buffer({})", function.name, index));
}

}  // namespace metalloid::metal
