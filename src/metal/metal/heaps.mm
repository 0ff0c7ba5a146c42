// MTLHeap: one piece of memory, out of which buffers get their places. And sets of what stays resident, which all does.
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "metal/metal/device_facts.h"
#include "metal/metal/faces.h"
#include "metal/metal/parts.h"

using namespace metalloid::metal;

namespace {

// The places that are taken. Buffers and their heap share it: they may outlive each other.
class Places {
 public:
  Places(metalloid::Buffer all, std::uint64_t size) : memory(std::move(all)), size_(size) {}

  std::optional<std::size_t> take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::size_t at = 0;
    for (const auto& [begin, length] : taken_) {
      if (begin - at >= bytes) break;
      at = begin + length;
    }
    if (at > size_ || size_ - at < bytes) return std::nullopt;
    taken_.emplace(at, bytes);
    return at;
  }
  void free(std::size_t at) {
    const std::lock_guard lock(mutex_);
    taken_.erase(at);
  }
  std::size_t used() {
    const std::lock_guard lock(mutex_);
    std::size_t sum = 0;
    for (const auto& [_, length] : taken_) sum += length;
    return sum;
  }
  std::size_t largest_gap() {
    const std::lock_guard lock(mutex_);
    std::size_t at = 0, gap = 0;
    for (const auto& [begin, length] : taken_) {
      gap = std::max(gap, begin - at);
      at = begin + length;
    }
    return std::max<std::size_t>(gap, size_ - at);
  }

  const metalloid::Buffer memory;

 private:
  const std::size_t size_;
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> taken_;
};

}  // namespace

@implementation MTLHeapDescriptor
- (MTLResourceOptions)resourceOptions {
  return static_cast<MTLResourceOptions>(_storageMode << 4 | _cpuCacheMode | _hazardTrackingMode << 8);
}
- (void)setResourceOptions:(MTLResourceOptions)options {
  _storageMode = static_cast<MTLStorageMode>(options >> 4 & 15);
  _cpuCacheMode = static_cast<MTLCPUCacheMode>(options & 15);
  _hazardTrackingMode = static_cast<MTLHazardTrackingMode>(options >> 8 & 3);
}
- (instancetype)init {
  _storageMode = MTLStorageModePrivate;
  return self;
}
- (id)copy {
  MTLHeapDescriptor* other = [[MTLHeapDescriptor alloc] init];
  [other setResourceOptions:[self resourceOptions]];
  [other setSize:_size];
  [other setType:_type];
  return other;
}
@end

@interface MetalloidHeap : NSObject <MTLHeap>
@end
@implementation MetalloidHeap {
 @public
  DeviceObject* owner;
  NSUInteger bytes;
  MTLResourceOptions options;
  MTLHeapType kind;
  std::shared_ptr<Places> places;
}
@synthesize label = _label;
- (void)dealloc {
  owner->allocated_bytes -= bytes;
  [_label release];
  [super dealloc];
}
- (id<MTLDevice>)device {
  return (id)owner;
}
- (MTLResourceOptions)resourceOptions {
  return options;
}
- (MTLStorageMode)storageMode {
  return static_cast<MTLStorageMode>(options >> 4 & 15);
}
- (MTLCPUCacheMode)cpuCacheMode {
  return static_cast<MTLCPUCacheMode>(options & 15);
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  return static_cast<MTLHazardTrackingMode>(options >> 8 & 3);
}
- (MTLHeapType)type {
  return kind;
}
- (NSUInteger)size {
  return bytes;
}
- (NSUInteger)allocatedSize {
  return bytes;
}
- (NSUInteger)currentAllocatedSize {
  return bytes;
}
- (NSUInteger)usedSize {
  return places->used();
}
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment {
  return places->largest_gap();
}
- (id<MTLBuffer>)bufferAt:(NSUInteger)offset length:(NSUInteger)length keeping:(std::shared_ptr<void>)taken {
  const std::size_t reach = std::min(memory_size(length), places->memory.size() - offset);
  auto* buffer = make_object<BufferObject>(places->memory.part(offset, reach, std::move(taken)));
  buffer->length = length;
  buffer->device = owner;
  buffer->options = options;
  buffer->heap = held(self);
  buffer->heap_offset = offset;
  return (id)buffer;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)ofBuffer {
  if (length == 0 || kind == MTLHeapTypePlacement) return nil;
  const auto at = places->take(heap_size(length));
  if (!at) return nil;
  return [self bufferAt:*at
                 length:length
                keeping:std::shared_ptr<void>(nullptr, [all = places, at = *at](void*) { all->free(at); })];
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)ofBuffer offset:(NSUInteger)offset {
  if (length == 0 || offset > bytes || length > bytes - offset) return nil;
  return [self bufferAt:offset length:length keeping:places];
}
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  return MTLPurgeableStateNonVolatile;
}
@end

id<MTLHeap> metalloid::metal::new_heap(DeviceObject& device, MTLHeapDescriptor* descriptor) {
  const std::size_t behind = memory_size(0);  // the last buffer, too, is in front of something
  id<MTLBuffer> memory = new_buffer(device, heap_size([descriptor size]) + behind, [descriptor resourceOptions]);
  if (!memory) return nil;
  MetalloidHeap* heap = [[MetalloidHeap alloc] init];
  heap->owner = &device;
  heap->bytes = heap_size([descriptor size]);
  heap->options = [descriptor resourceOptions];
  heap->kind = [descriptor type];
  heap->places = std::make_shared<Places>(self_as<BufferObject>(memory).buffer, heap->bytes);
  [memory release];
  device.allocated_bytes += heap->bytes;
  return heap;
}

@implementation MTLResidencySetDescriptor
- (void)dealloc {
  [_label release];
  [super dealloc];
}
- (id)copy {
  MTLResidencySetDescriptor* other = [[MTLResidencySetDescriptor alloc] init];
  [other setLabel:_label];
  [other setInitialCapacity:_initialCapacity];
  return other;
}
@end

@interface MetalloidResidencySet : NSObject <MTLResidencySet>
@end
@implementation MetalloidResidencySet {
 @public
  id<MTLDevice> owner;
  NSString* name;
  std::mutex mutex;
  std::vector<id> all;
}
- (void)dealloc {
  [self removeAllAllocations];
  [name release];
  [super dealloc];
}
- (id<MTLDevice>)device {
  return owner;
}
- (NSString*)label {
  return name;
}
- (uint64_t)allocatedSize {
  const std::lock_guard lock(mutex);
  uint64_t sum = 0;
  for (id one : all) sum += [(id<MTLAllocation>)one allocatedSize];
  return sum;
}
- (NSUInteger)allocationCount {
  const std::lock_guard lock(mutex);
  return all.size();
}
- (NSArray*)allAllocations {
  const std::lock_guard lock(mutex);
  return [NSArray arrayWithObjects:all.data() count:all.size()];
}
- (BOOL)containsAllocation:(id<MTLAllocation>)allocation {
  const std::lock_guard lock(mutex);
  return std::ranges::find(all, (id)allocation) != all.end();
}
- (void)addAllocation:(id<MTLAllocation>)allocation {
  if ([self containsAllocation:allocation]) return;
  const std::lock_guard lock(mutex);
  all.push_back([(id)allocation retain]);
}
- (void)addAllocations:(const id<MTLAllocation>[])allocations count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self addAllocation:allocations[i]];
}
- (void)removeAllocation:(id<MTLAllocation>)allocation {
  const std::lock_guard lock(mutex);
  if (std::erase(all, (id)allocation) != 0) [(id)allocation release];
}
- (void)removeAllocations:(const id<MTLAllocation>[])allocations count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self removeAllocation:allocations[i]];
}
- (void)removeAllAllocations {
  const std::lock_guard lock(mutex);
  for (id one : std::exchange(all, {})) [one release];
}
- (void)commit {
}
- (void)requestResidency {
}
- (void)endResidency {
}
@end

id<MTLResidencySet> metalloid::metal::new_residency_set(id<MTLDevice> device, MTLResidencySetDescriptor* descriptor) {
  MetalloidResidencySet* set = [[MetalloidResidencySet alloc] init];
  set->owner = device;
  set->name = [[descriptor label] copy];
  return set;
}
