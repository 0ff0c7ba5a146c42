// MTLComputePipelineState, its descriptor, and what it says of its kernel's arguments.
#include <algorithm>
#include <string>

#include "metal/metal/data_types.h"
#include "metal/metal/faces.h"
#include "metal/metal/parts.h"

using namespace metalloid::metal;
using metalloid::ArgumentInfo;
using metalloid::ArgumentKind;

@implementation MTLPipelineBufferDescriptor
- (id)copy {
  MTLPipelineBufferDescriptor* other = [[MTLPipelineBufferDescriptor alloc] init];
  [other setMutability:_mutability];
  return other;
}
@end

@implementation MTLPipelineBufferDescriptorArray {
  std::array<MTLPipelineBufferDescriptor*, buffer_slots> all;
}
- (void)dealloc {
  for (id one : all) [one release];
  [super dealloc];
}
- (MTLPipelineBufferDescriptor*)objectAtIndexedSubscript:(NSUInteger)index {
  if (index >= all.size()) return nil;
  if (!all[index]) all[index] = [[MTLPipelineBufferDescriptor alloc] init];
  return all[index];
}
- (void)setObject:(MTLPipelineBufferDescriptor*)buffer atIndexedSubscript:(NSUInteger)index {
  if (index >= all.size()) return;
  [all[index] release];
  all[index] = [buffer copy];
}
@end

@implementation MTLComputePipelineDescriptor {
  MTLPipelineBufferDescriptorArray* mutabilities;
}
- (MTLPipelineBufferDescriptorArray*)buffers {
  if (!mutabilities) mutabilities = [[MTLPipelineBufferDescriptorArray alloc] init];
  return mutabilities;
}
- (void)reset {
  [self setLabel:nil];
  [self setComputeFunction:nil];
  [self setLinkedFunctions:nil];
  [self setPreloadedLibraries:nil];
  [self setBinaryArchives:nil];
  [mutabilities release];
  mutabilities = nil;
  _threadGroupSizeIsMultipleOfThreadExecutionWidth = _supportIndirectCommandBuffers = NO;
  _maxTotalThreadsPerThreadgroup = _maxCallStackDepth = 0;
}
- (void)dealloc {
  [self reset];
  [super dealloc];
}
- (id)copy {
  MTLComputePipelineDescriptor* other = [[MTLComputePipelineDescriptor alloc] init];
  [other setLabel:_label];
  [other setComputeFunction:_computeFunction];
  [other setLinkedFunctions:_linkedFunctions];
  [other setThreadGroupSizeIsMultipleOfThreadExecutionWidth:_threadGroupSizeIsMultipleOfThreadExecutionWidth];
  [other setMaxTotalThreadsPerThreadgroup:_maxTotalThreadsPerThreadgroup];
  [other setMaxCallStackDepth:_maxCallStackDepth];
  [other setSupportIndirectCommandBuffers:_supportIndirectCommandBuffers];
  return other;
}
@end

// Of buffers, tensors and threadgroup memory.
@interface MetalloidBinding : NSObject <MTLBufferBinding, MTLThreadgroupBinding>
@end
@implementation MetalloidBinding {
 @public
  ArgumentInfo info;
}
- (NSString*)name {
  return string_of(info.name);
}
- (MTLBindingType)type {
  switch (info.kind) {
    case ArgumentKind::threadgroup_memory:
      return MTLBindingTypeThreadgroupMemory;
    case ArgumentKind::texture:
      return MTLBindingTypeTexture;
    case ArgumentKind::sampler:
      return MTLBindingTypeSampler;
    case ArgumentKind::tensor:
      return MTLBindingTypeTensor;
    default:
      return MTLBindingTypeBuffer;
  }
}
- (MTLBindingAccess)access {
  return info.access == metalloid::Access::read ? MTLBindingAccessReadOnly : MTLBindingAccessReadWrite;
}
- (NSUInteger)index {
  return info.index;
}
- (BOOL)isUsed {
  return info.is_active && info.is_used;
}
- (BOOL)isArgument {
  return info.is_active;
}
- (NSUInteger)bufferAlignment {
  return info.type.alignment;
}
- (NSUInteger)bufferDataSize {
  return info.type.size;
}
- (MTLDataType)bufferDataType {
  return data_type_of(info.type);
}
- (NSUInteger)threadgroupMemoryAlignment {
  return info.type.alignment;
}
- (NSUInteger)threadgroupMemoryDataSize {
  return info.type.size;
}
@end

@interface MTLComputePipelineReflection (Made)
+ (MTLComputePipelineReflection*)ofKernel:(const metalloid::Kernel&)kernel;
@end
@implementation MTLComputePipelineReflection {
  NSArray* all;
}
+ (MTLComputePipelineReflection*)ofKernel:(const metalloid::Kernel&)kernel {
  MTLComputePipelineReflection* one = [[[self alloc] init] autorelease];
  NSMutableArray* bindings = [[NSMutableArray alloc] init];
  for (const ArgumentInfo& argument : kernel.info().arguments) {
    if (argument.kind == ArgumentKind::builtin) continue;
    MetalloidBinding* binding = [[MetalloidBinding alloc] init];
    binding->info = argument;
    [bindings addObject:binding];
    [binding release];
  }
  one->all = bindings;
  return one;
}
- (NSArray*)bindings {
  return all;
}
- (NSArray*)arguments {
  return all;
}
- (void)dealloc {
  [all release];
  [super dealloc];
}
@end

@interface MetalloidPipelineState : NSObject <MTLComputePipelineState>
@end
@implementation MetalloidPipelineState
- (NSString*)label {
  const auto& state = self_as<PipelineObject>(self);
  return string_of(state.label.empty() ? state.kernel.name() : state.label);
}
- (id<MTLDevice>)device {
  return (id)self_as<PipelineObject>(self).device;
}
- (MTLComputePipelineReflection*)reflection {
  return [MTLComputePipelineReflection ofKernel:self_as<PipelineObject>(self).kernel];
}
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return self_as<PipelineObject>(self).max_threads;
}
- (NSUInteger)threadExecutionWidth {
  return self_as<PipelineObject>(self).kernel.thread_execution_width();
}
- (NSUInteger)staticThreadgroupMemoryLength {
  return self_as<PipelineObject>(self).kernel.static_threadgroup_memory_length();
}
- (BOOL)supportIndirectCommandBuffers {
  return YES;
}
- (MTLResourceID)gpuResourceID {
  return {reinterpret_cast<std::uint64_t>((__bridge void*)self)};
}
@end

id<MTLComputePipelineState> metalloid::metal::new_pipeline(id<MTLFunction> function,
                                                           MTLComputePipelineDescriptor* descriptor,
                                                           MTLAutoreleasedComputePipelineReflection* reflection,
                                                           NSError** error) {
  return reported(error, [&] {
    if (!function) throw Error(ErrorCode::invalid_argument, "a compute pipeline state needs a function");
    auto& given = self_as<FunctionObject>(function);
    auto* state = make_object<PipelineObject>(given.kernel(), given.device);
    if (descriptor) {
      state->label = std::string(text_of([descriptor label]));
      if (const NSUInteger most = [descriptor maxTotalThreadsPerThreadgroup]) {
        state->max_threads = std::min<std::uint64_t>(state->max_threads, most);
      }
    }
    if (reflection) *reflection = [MTLComputePipelineReflection ofKernel:state->kernel];
    return state;
  });
}
