// MTLIndirectCommandBuffer: dispatches that are written once, and changed and carried out as often as a program likes.
#include <algorithm>
#include <map>
#include <vector>

#include "metal/metal/faces.h"
#include "metal/metal/parts.h"

using namespace metalloid::metal;

@implementation MTLIndirectCommandBufferDescriptor
- (instancetype)init {
  _inheritPipelineState = _inheritBuffers = YES;
  return self;
}
- (id)copy {
  MTLIndirectCommandBufferDescriptor* other = [[MTLIndirectCommandBufferDescriptor alloc] init];
  [other setCommandTypes:_commandTypes];
  [other setInheritPipelineState:_inheritPipelineState];
  [other setInheritBuffers:_inheritBuffers];
  [other setMaxKernelBufferBindCount:_maxKernelBufferBindCount];
  [other setMaxKernelThreadgroupMemoryBindCount:_maxKernelThreadgroupMemoryBindCount];
  return other;
}
@end

@interface MetalloidIndirectCommand : NSObject <MTLIndirectComputeCommand>
@end
@implementation MetalloidIndirectCommand {
 @public
  struct Place {
    std::shared_ptr<void> buffer;
    NSUInteger offset;
  };
  std::shared_ptr<void> pipeline;
  std::map<NSUInteger, Place> buffers;
  std::map<NSUInteger, NSUInteger> threadgroup;
  MTLSize grid, group;
  bool counts_threads, is_set;
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  pipeline = held(state);
}
- (void)setKernelBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  buffers[index] = {held(buffer), offset};
}
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  threadgroup[index] = length;
}
- (void)concurrentDispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
  grid = groups;
  group = threads;
  counts_threads = false;
  is_set = true;
}
- (void)concurrentDispatchThreads:(MTLSize)all threadsPerThreadgroup:(MTLSize)threads {
  grid = all;
  group = threads;
  counts_threads = true;
  is_set = true;
}
// Commands run in their order.
- (void)setBarrier {
}
- (void)clearBarrier {
}
- (void)reset {
  pipeline = nullptr;
  buffers.clear();
  threadgroup.clear();
  is_set = false;
}
@end

@interface MetalloidIndirectCommands : MetalloidPart <MTLIndirectCommandBuffer>
@end
@implementation MetalloidIndirectCommands {
 @public
  std::vector<MetalloidIndirectCommand*> commands;
  bool inherits_pipeline, inherits_buffers;
}
- (void)dealloc {
  for (id one : commands) [one release];
  [super dealloc];
}
- (NSUInteger)size {
  return commands.size();
}
- (NSUInteger)allocatedSize {
  return 0;
}
- (MTLStorageMode)storageMode {
  return MTLStorageModeShared;
}
- (MTLCPUCacheMode)cpuCacheMode {
  return MTLCPUCacheModeDefaultCache;
}
- (MTLHazardTrackingMode)hazardTrackingMode {
  return MTLHazardTrackingModeDefault;
}
- (MTLResourceOptions)resourceOptions {
  return MTLResourceStorageModeShared;
}
- (id<MTLHeap>)heap {
  return nil;
}
- (NSUInteger)heapOffset {
  return 0;
}
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  return MTLPurgeableStateNonVolatile;
}
- (void)makeAliasable {
}
- (BOOL)isAliasable {
  return NO;
}
- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)index {
  if (index >= commands.size()) fail(Fault::index, "an index beyond the commands of an MTLIndirectCommandBuffer");
  return commands[index];
}
- (void)resetWithRange:(NSRange)range {
  for (NSUInteger i = range.location; i < MIN(NSMaxRange(range), commands.size()); ++i) [commands[i] reset];
}
@end

namespace metalloid::metal {

id<MTLIndirectCommandBuffer> new_indirect_command_buffer(id<MTLDevice> device,
                                                         MTLIndirectCommandBufferDescriptor* descriptor,
                                                         NSUInteger count) {
  MetalloidIndirectCommands* all = [[MetalloidIndirectCommands alloc] init];
  all->owner = device;
  all->inherits_pipeline = [descriptor inheritPipelineState];
  all->inherits_buffers = [descriptor inheritBuffers];
  for (NSUInteger i = 0; i < count; ++i) all->commands.push_back([[MetalloidIndirectCommand alloc] init]);
  return all;
}

void execute(EncoderObject& encoder, id<MTLIndirectCommandBuffer> buffer, NSRange range) {
  auto* all = (MetalloidIndirectCommands*)buffer;
  if (NSMaxRange(range) > all->commands.size()) {
    fail(Fault::index, "a range beyond the commands of an MTLIndirectCommandBuffer");
  }
  for (NSUInteger i = range.location; i < NSMaxRange(range); ++i) {
    MetalloidIndirectCommand* command = all->commands[i];
    if (!command->is_set) continue;
    EncoderObject* own = all->inherits_buffers ? retain(&encoder) : make_object<EncoderObject>(encoder.commands());
    own->set_pipeline(all->inherits_pipeline ? encoder.pipeline : object_of<PipelineObject>(command->pipeline.get()));
    for (const auto& [index, place] : command->buffers) {
      own->set_buffer(static_cast<unsigned>(index), place.buffer.get(), place.offset);
    }
    for (const auto& [index, length] : command->threadgroup) {
      own->set_threadgroup_memory(static_cast<unsigned>(index), length);
    }
    command->counts_threads ? own->dispatch_threads(extents(command->grid), extents(command->group))
                            : own->dispatch_threadgroups(extents(command->grid), extents(command->group));
    release(own);
  }
}

}  // namespace metalloid::metal
