// An argument buffer is a structure in memory: a pointer's place holds its address. Places count as Metal counts them
// where a structure numbers none of its own: members in their order, each element of an array.
#include "host/objc/argument_encoder.h"

#include <c10/util/Exception.h>

#include <cstring>
#include <utility>
#include <vector>

namespace {

using metalloid::TypeInfo;

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
  return (id)metalloid::torch_host::default_device();
}
- (NSString*)label {
  return @"";
}
- (void)setLabel:(NSString*)label {
}
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset {
  const metalloid::Buffer target = metalloid::torch_host::memory_of((__bridge void*)buffer);
  TORCH_CHECK_VALUE(offset <= target.size() && length <= target.size() - offset, "an argument buffer of ", length,
                    " bytes from ", offset, " on leaves a buffer of ", target.size());
  [buffer retain];
  [memory release];
  memory = buffer;
  begin = offset;
}
- (void*)constantDataAtIndex:(NSUInteger)index {
  TORCH_CHECK_VALUE(memory, "no argument buffer is set");
  TORCH_CHECK_INDEX(index < places->size(), "the argument buffer has ", places->size(), " places, not one of index ",
                    index);
  return static_cast<char*>(metalloid::torch_host::memory_of((__bridge void*)memory).contents()) + begin +
         (*places)[index];
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  const char* address = nullptr;
  if (buffer) {
    const metalloid::Buffer target = metalloid::torch_host::memory_of((__bridge void*)buffer);
    TORCH_CHECK_VALUE(offset <= target.size(), "offset ", offset, " leaves a buffer of ", target.size(), " bytes");
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

namespace metalloid::torch_host {

id<MTLArgumentEncoder> new_argument_encoder(const FunctionObject& function, unsigned index) {
  for (const ArgumentInfo& argument : function.kernel.info().arguments) {
    if (argument.kind != ArgumentKind::buffer || argument.index != index || argument.type.members.empty()) continue;
    return [[MetalloidArgumentEncoder alloc] initWithType:&argument.type];
  }
  TORCH_CHECK_VALUE(false, "kernel '", function.name, "' has no structure at buffer(", index, ")");
}

}  // namespace metalloid::torch_host
