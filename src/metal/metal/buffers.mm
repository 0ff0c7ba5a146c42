// MTLBuffer: an object, or memory of the host's, which has no object's beginning.
#include <algorithm>
#include <cstddef>
#include <new>
#include <string>

#include "metal/metal/device_facts.h"
#include "metal/metal/faces.h"
#include "metal/metal/parts.h"
#include "metal/metal/validation.h"
#include "metal/system/memory.h"
#include "metalloid/check.h"

using namespace metalloid::metal;

bool metalloid::metal::is_exact() { return metalloid::is_checking() || is_validating(); }

static constexpr std::size_t page = 16384;  // of Apple's GPUs

static std::size_t whole_pages(std::size_t length) { return (length + page - 1) / page * page; }

std::size_t metalloid::metal::memory_size(std::size_t length) {
  if (is_exact()) return length;
  constexpr std::size_t least_behind = 8 * page;  // a tile of 64 rows behind one of a few
  return whole_pages(length + std::clamp(length, least_behind, most_behind));
}

id<MTLBuffer> metalloid::metal::new_buffer(DeviceObject& device, NSUInteger length, MTLResourceOptions options) {
  if (length == 0 || length > device_facts().largest_buffer) return nil;
  const bool is_private = (options & MTLResourceStorageModeMemoryless) == MTLResourceStorageModePrivate;
  try {
    Buffer memory(device.device, memory_size(length),
                  is_private ? Buffer::Storage::device_private : Buffer::Storage::shared);
    return (id)make_object<BufferObject>(std::move(memory), length, &device, options);
  } catch (const std::bad_alloc&) {
    return nil;
  } catch (const Error&) {  // memory of a device is exhausted
    return nil;
  }
}

// For good, since nobody can change what they are of.
static id<MTLBuffer> copy_of(DeviceObject& device, void* memory, NSUInteger length, MTLResourceOptions options,
                             std::shared_ptr<void> owner) {
  try {
    metalloid::Buffer copy(device.device, memory_size(length));
    copy.write(0, {static_cast<const std::byte*>(memory), length});
    auto* wrapped = make_object<BufferObject>(std::move(copy), length, &device, options);
    wrapped->contents = memory;
    wrapped->contents_owner = std::move(owner);
    return (id)wrapped;
  } catch (const std::bad_alloc&) {
    return nil;
  } catch (const metalloid::Error&) {  // memory of a device is exhausted
    return nil;
  }
}

id<MTLBuffer> metalloid::metal::wrap_memory(DeviceObject& device, void* memory, NSUInteger length,
                                            MTLResourceOptions options, std::shared_ptr<void> owner) {
  if (!device.shares_memory_with_host() && is_read_only(memory, length)) {
    return copy_of(device, memory, length, options, std::move(owner));
  }
  const std::size_t behind = is_exact() ? 0 : memory_behind(static_cast<std::byte*>(memory) + length);
  return (id)make_object<BufferObject>(Buffer::wrap(memory, length + behind, std::move(owner)), length, &device,
                                       options);
}

@interface MetalloidBuffer : NSObject <MTLBuffer>
@end
@implementation MetalloidBuffer
- (NSString*)label {
  return is_object(self) ? string_of(self_as<BufferObject>(self).label) : @"";
}
- (void)setLabel:(NSString*)label {
  if (is_object(self)) self_as<BufferObject>(self).label = std::string(text_of(label));
}
- (id<MTLDevice>)device {
  return (id)(is_object(self) ? self_as<BufferObject>(self).device : default_device());
}
// Private memory is not the host's, also where it could be reached.
- (void*)contents {
  if ([self storageMode] == MTLStorageModePrivate) return nullptr;
  if (is_object(self) && self_as<BufferObject>(self).contents) return self_as<BufferObject>(self).contents;
  return memory_of(self).contents();
}
- (NSUInteger)length {
  return is_object(self) ? self_as<BufferObject>(self).length : memory_of(self).size();
}
// As on a Mac, where nothing lies behind.
- (NSUInteger)allocatedSize {
  if (!is_object(self)) return memory_of(self).size();
  const auto& buffer = self_as<BufferObject>(self);
  return buffer.heap ? heap_size(buffer.length) : whole_pages(buffer.length);
}
- (uint64_t)gpuAddress {
  return memory_of(self).gpu_address();
}
- (MTLResourceOptions)resourceOptions {
  return static_cast<MTLResourceOptions>(is_object(self) ? self_as<BufferObject>(self).options : 0);
}
- (MTLStorageMode)storageMode {
  return static_cast<MTLStorageMode>([self resourceOptions] >> 4 & 15);
}
- (MTLCPUCacheMode)cpuCacheMode {
  return static_cast<MTLCPUCacheMode>([self resourceOptions] & 15);
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  return static_cast<MTLHazardTrackingMode>([self resourceOptions] >> 8 & 3);
}
- (id<MTLHeap>)heap {
  return is_object(self) ? (id)self_as<BufferObject>(self).heap.get() : nil;
}
- (NSUInteger)heapOffset {
  return is_object(self) ? self_as<BufferObject>(self).heap_offset : 0;
}
// Memory stays.
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  return MTLPurgeableStateNonVolatile;
}
- (void)makeAliasable {
}
- (BOOL)isAliasable {
  return NO;
}
- (void)didModifyRange:(NSRange)range {
}
- (void)addDebugMarker:(NSString*)marker range:(NSRange)range {
}
- (void)removeAllDebugMarkers {
}
- (instancetype)retain {
  return is_object(self) ? [super retain] : self;
}
- (void)release {
  if (is_object(self)) [super release];
}
- (instancetype)autorelease {
  return is_object(self) ? [super autorelease] : self;
}
- (NSUInteger)retainCount {
  return is_object(self) ? [super retainCount] : 1;
}
@end
