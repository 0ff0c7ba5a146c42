// Metal's protocols over the objects of metal_objects.h.
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <c10/util/Exception.h>

#include "host/metal_objects.h"
#include "host/objc/argument_encoder.h"
#include "host/objc/foundation.h"

using namespace metalloid::torch_host;
using metalloid::objective_c::error_of;
using metalloid::objective_c::string_of;

namespace {

std::array<std::uint64_t, 3> extents(MTLSize size) { return {size.width, size.height, size.depth}; }

template <typename T>
T& self_as(id self) {
  return *object_of<T>((__bridge void*)self);
}

// What Metal reports through an NSError**.
template <typename Make>
id reported(NSError** error, const Make& make) {
  try {
    return (id)make();
  } catch (const std::exception& failure) {
    const auto* ours = dynamic_cast<const c10::Error*>(&failure);
    if (error) *error = error_of(ours ? ours->what_without_backtrace() : failure.what());
    return nil;
  }
}

metalloid::FunctionConstants::Value constant(const void* value, MTLDataType type) {
  switch (type) {
    case MTLDataTypeBool:
      return *static_cast<const bool*>(value);
    case MTLDataTypeChar:
      return std::int64_t{*static_cast<const std::int8_t*>(value)};
    case MTLDataTypeUChar:
      return std::int64_t{*static_cast<const std::uint8_t*>(value)};
    case MTLDataTypeShort:
      return std::int64_t{*static_cast<const std::int16_t*>(value)};
    case MTLDataTypeUShort:
      return std::int64_t{*static_cast<const std::uint16_t*>(value)};
    case MTLDataTypeInt:
      return std::int64_t{*static_cast<const std::int32_t*>(value)};
    case MTLDataTypeUInt:
      return std::int64_t{*static_cast<const std::uint32_t*>(value)};
    case MTLDataTypeLong:
      return *static_cast<const std::int64_t*>(value);
    case MTLDataTypeULong:
      return *static_cast<const std::uint64_t*>(value);
    case MTLDataTypeFloat:
      return double{*static_cast<const float*>(value)};
    case MTLDataTypeHalf:
      return static_cast<double>(*static_cast<const _Float16*>(value));
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "function constants of MTLDataType ", static_cast<unsigned long>(type));
  }
}

void* block_copy(id block) { return _Block_copy((__bridge void*)block); }

std::function<void()> call_of(MTLCommandBufferHandler handler, id<MTLCommandBuffer> buffer) {
  std::shared_ptr<void> block(block_copy((id)handler), [](void* copy) { _Block_release(copy); });
  return [=] {
    @autoreleasepool {
      ((MTLCommandBufferHandler)block.get())(buffer);
    }
  };
}

}  // namespace

@interface MTLFunctionConstantValues (Held)
- (const void*)held;
@end

// Without words of their own.
#define METALLOID_NO_LABEL             \
  -(NSString*)label {                  \
    return @"";                        \
  }                                    \
  -(void)setLabel : (NSString*)label { \
  }
#define METALLOID_HAS_DEVICE     \
  -(id<MTLDevice>)device {       \
    return (id)default_device(); \
  }

@interface MetalloidDevice : NSObject <MTLDevice>
@end
@implementation MetalloidDevice
- (NSString*)name {
  return string_of(self_as<DeviceObject>(self).device.description());
}
- (MTLSize)maxThreadsPerThreadgroup {
  const metalloid::Limits limits = self_as<DeviceObject>(self).device.limits();
  return MTLSizeMake(limits.threads_per_threadgroup, limits.threads_per_threadgroup, limits.threads_per_threadgroup);
}
- (NSUInteger)maxThreadgroupMemoryLength {
  return self_as<DeviceObject>(self).device.limits().threadgroup_memory_bytes;
}
- (NSUInteger)maxBufferLength {
  return NSIntegerMax;
}
- (BOOL)hasUnifiedMemory {
  return YES;
}
- (uint64_t)recommendedMaxWorkingSetSize {
  return NSIntegerMax;
}
// As the M3 that ATen/mps/MPSDevice.h is told of.
- (BOOL)supportsFamily:(MTLGPUFamily)family {
  return family <= MTLGPUFamilyApple9 || family == MTLGPUFamilyMac2 || family == MTLGPUFamilyCommon3 ||
      family == MTLGPUFamilyMetal3;
}
- (id<MTLCommandQueue>)newCommandQueue {
  return (id)make_object<QueueObject>();
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return (id)make_object<BufferObject>(metalloid::Buffer(length));
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)bytes length:(NSUInteger)length options:(MTLResourceOptions)options {
  metalloid::Buffer buffer(length);
  buffer.write(0, {static_cast<const std::byte*>(bytes), length});
  return (id)make_object<BufferObject>(buffer);
}
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)memory
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void* memory, NSUInteger length))deallocator {
  std::shared_ptr<void> owner;
  if (deallocator) {
    void* block = block_copy((id)deallocator);
    owner = std::shared_ptr<void>(memory, [block, length](void* owned) {
      ((void (^)(void*, NSUInteger))block)(owned, length);
      _Block_release(block);
    });
  }
  return (id)make_object<BufferObject>(metalloid::Buffer::wrap(memory, length, std::move(owner)));
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source options:(MTLCompileOptions*)options error:(NSError**)error {
  return reported(error, [&] { return compile_library([source UTF8String], (__bridge void*)options); });
}
- (id<MTLLibrary>)newLibraryWithData:(id)data error:(NSError**)error {
  if (error) *error = error_of(no_metallib);
  return nil;
}
- (id<MTLLibrary>)newLibraryWithURL:(NSURL*)url error:(NSError**)error {
  if (error) *error = error_of(no_metallib);
  return nil;
}
- (id<MTLLibrary>)newDefaultLibrary {
  return nil;
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError**)error {
  return reported(error, [&] { return make_object<PipelineObject>(self_as<FunctionObject>(function).kernel); });
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void) { return (id)retain(default_device()); }

@interface MetalloidLibrary : NSObject <MTLLibrary>
@end
@implementation MetalloidLibrary
METALLOID_NO_LABEL
METALLOID_HAS_DEVICE
- (id<MTLFunction>)newFunctionWithName:(NSString*)name {
  return [self newFunctionWithName:name constantValues:nil error:nil];
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name
                        constantValues:(MTLFunctionConstantValues*)values
                                 error:(NSError**)error {
  return reported(error, [&] {
    const auto& library = self_as<LibraryObject>(self);
    const auto found = library.part_of.find(std::string_view([name UTF8String]));
    TORCH_CHECK(found != library.part_of.end(), "the library has no kernel ", [name UTF8String]);
    const auto* constants = static_cast<const metalloid::FunctionConstants*>(values ? [values held] : nullptr);
    return make_object<FunctionObject>(std::string([name UTF8String]),
                                       library.parts[found->second].kernel(
                                           [name UTF8String], constants ? *constants : metalloid::FunctionConstants()));
  });
}
- (NSArray<NSString*>*)functionNames {
  NSMutableArray* names = [NSMutableArray array];
  for (const auto& [name, _] : self_as<LibraryObject>(self).part_of) [names addObject:string_of(name)];
  return names;
}
@end

@interface MetalloidFunction : NSObject <MTLFunction>
@end
@implementation MetalloidFunction
METALLOID_NO_LABEL
METALLOID_HAS_DEVICE
- (NSString*)name {
  return string_of(self_as<FunctionObject>(self).name);
}
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index {
  return new_argument_encoder(self_as<FunctionObject>(self), static_cast<unsigned>(index));
}
@end

@interface MetalloidPipelineState : NSObject <MTLComputePipelineState>
@end
@implementation MetalloidPipelineState
METALLOID_HAS_DEVICE
- (NSString*)label {
  return string_of(self_as<PipelineObject>(self).kernel.name());
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
@end

// Also the class of tensors' memory, which has no object's beginning.
@interface MetalloidBuffer : NSObject <MTLBuffer>
@end
@implementation MetalloidBuffer
METALLOID_HAS_DEVICE
- (NSString*)label {
  return is_object(self) ? string_of(self_as<BufferObject>(self).label) : @"";
}
- (void)setLabel:(NSString*)label {
  if (is_object(self)) self_as<BufferObject>(self).label = [label UTF8String];
}
- (void*)contents {
  return memory_of(self).contents();
}
- (NSUInteger)length {
  return memory_of(self).size();
}
- (uint64_t)gpuAddress {
  return memory_of(self).gpu_address();
}
- (MTLStorageMode)storageMode {
  return MTLStorageModeShared;
}
- (void)didModifyRange:(NSRange)range {
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

@interface MetalloidCommandQueue : NSObject <MTLCommandQueue>
@end
@implementation MetalloidCommandQueue
METALLOID_NO_LABEL
METALLOID_HAS_DEVICE
- (id<MTLCommandBuffer>)commandBuffer {
  return [(id)make_object<CommandBufferObject>(&self_as<QueueObject>(self)) autorelease];
}
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
  return [self commandBuffer];
}
@end

@interface MetalloidBlitEncoder : NSObject <MTLBlitCommandEncoder> {
  CommandBufferObject* commands;
}
- (instancetype)initWithCommands:(CommandBufferObject*)buffer;
@end

@interface MetalloidCommandBuffer : NSObject <MTLCommandBuffer>
@end
@implementation MetalloidCommandBuffer
METALLOID_NO_LABEL
METALLOID_HAS_DEVICE
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  return [(id)make_object<EncoderObject>(&self_as<CommandBufferObject>(self)) autorelease];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
  return [self computeCommandEncoder];
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  return [[[MetalloidBlitEncoder alloc] initWithCommands:&self_as<CommandBufferObject>(self)] autorelease];
}
- (void)enqueue {
  self_as<CommandBufferObject>(self).enqueue();
}
- (void)commit {
  self_as<CommandBufferObject>(self).commit();
}
- (void)commitAndContinue {
  self_as<CommandBufferObject>(self).commit();
}
- (void)waitUntilCompleted {
  self_as<CommandBufferObject>(self).wait_until_completed();
}
- (void)waitUntilScheduled {
  self_as<CommandBufferObject>(self).wait_until_scheduled();
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
  self_as<CommandBufferObject>(self).on_completed(call_of(handler, self));
}
- (void)addScheduledHandler:(MTLCommandBufferHandler)handler {
  self_as<CommandBufferObject>(self).on_scheduled(call_of(handler, self));
}
// The numbers are Metal's.
- (MTLCommandBufferStatus)status {
  return static_cast<MTLCommandBufferStatus>(self_as<CommandBufferObject>(self).status());
}
- (NSError*)error {
  NSError* error = nil;
  if (const std::exception_ptr failure = self_as<CommandBufferObject>(self).error()) {
    reported(&error, [&]() -> id { std::rethrow_exception(failure); });
  }
  return error;
}
- (CFTimeInterval)GPUStartTime {
  return self_as<CommandBufferObject>(self).begin();
}
- (CFTimeInterval)GPUEndTime {
  return self_as<CommandBufferObject>(self).end();
}
- (CFTimeInterval)kernelStartTime {
  return self_as<CommandBufferObject>(self).begin();
}
- (CFTimeInterval)kernelEndTime {
  return self_as<CommandBufferObject>(self).end();
}
@end

// Metal Performance Shaders' own command buffers stand on Metal's.
@implementation MPSCommandBuffer
@dynamic status, error, GPUStartTime, GPUEndTime, kernelStartTime, kernelEndTime, device, label;
+ (instancetype)commandBufferWithCommandBuffer:(id<MTLCommandBuffer>)buffer {
  return (id)buffer;
}
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)queue {
  return (id)[queue commandBuffer];
}
@end

@interface MetalloidComputeEncoder : NSObject <MTLComputeCommandEncoder>
@end
@implementation MetalloidComputeEncoder
METALLOID_NO_LABEL
METALLOID_HAS_DEVICE
- (void)endEncoding {
}
- (void)pushDebugGroup:(NSString*)name {
}
- (void)popDebugGroup {
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  self_as<EncoderObject>(self).set_pipeline(object_of<PipelineObject>((__bridge void*)state));
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  self_as<EncoderObject>(self).set_buffer(static_cast<unsigned>(index), (__bridge void*)buffer, offset);
}
- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)range {
  for (NSUInteger i = 0; i < range.length; ++i) {
    [self setBuffer:buffers[i] offset:offsets[i] atIndex:range.location + i];
  }
}
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index {
  self_as<EncoderObject>(self).move_offset(static_cast<unsigned>(index), offset);
}
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  self_as<EncoderObject>(self).set_bytes(static_cast<unsigned>(index), bytes, length);
}
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  self_as<EncoderObject>(self).set_threadgroup_memory(static_cast<unsigned>(index), length);
}
- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group {
  self_as<EncoderObject>(self).dispatch_threads(extents(threads), extents(group));
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group {
  self_as<EncoderObject>(self).dispatch_threadgroups(extents(groups), extents(group));
}
// Every dispatch has finished before the next begins.
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
}
- (void)memoryBarrierWithResources:(const id<MTLResource>[])resources count:(NSUInteger)count {
}
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage {
  const auto access = usage & MTLResourceUsageWrite ? metalloid::Access::read_write : metalloid::Access::read;
  self_as<EncoderObject>(self).use((__bridge void*)resource, access);
}
- (void)useResources:(const id<MTLResource>[])resources count:(NSUInteger)count usage:(MTLResourceUsage)usage {
  for (NSUInteger i = 0; i < count; ++i) [self useResource:resources[i] usage:usage];
}
@end

@implementation MetalloidBlitEncoder
METALLOID_NO_LABEL
METALLOID_HAS_DEVICE
- (instancetype)initWithCommands:(CommandBufferObject*)buffer {
  commands = retain(buffer);
  return self;
}
- (void)dealloc {
  release(commands);
  [super dealloc];
}
- (void)endEncoding {
}
- (void)pushDebugGroup:(NSString*)name {
}
- (void)popDebugGroup {
}
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destination
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size {
  copy_memory(commands, (__bridge void*)source, sourceOffset, (__bridge void*)destination, destinationOffset, size);
}
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
  fill_memory(commands, (__bridge void*)buffer, range.location, range.length, std::byte{value});
}
- (void)synchronizeResource:(id<MTLResource>)resource {
}
@end

@implementation MTLCompileOptions
+ (instancetype)alloc {
  return (id)make_object<CompileOptionsObject>();
}
- (MTLLanguageVersion)languageVersion {
  const metalloid::LanguageVersion version = self_as<CompileOptionsObject>(self).options.language;
  return static_cast<MTLLanguageVersion>(version.major_version << 16 | version.minor_version);
}
- (void)setLanguageVersion:(MTLLanguageVersion)version {
  self_as<CompileOptionsObject>(self).options.language = {static_cast<std::uint8_t>(version >> 16),
                                                          static_cast<std::uint8_t>(version & 0xff)};
}
- (MTLMathMode)mathMode {
  return static_cast<MTLMathMode>(self_as<CompileOptionsObject>(self).options.math_mode);
}
- (void)setMathMode:(MTLMathMode)mode {
  self_as<CompileOptionsObject>(self).options.math_mode = static_cast<metalloid::MathMode>(mode);
}
- (MTLMathFloatingPointFunctions)mathFloatingPointFunctions {
  return [self mathMode] == MTLMathModeFast ? MTLMathFloatingPointFunctionsFast : MTLMathFloatingPointFunctionsPrecise;
}
- (void)setMathFloatingPointFunctions:(MTLMathFloatingPointFunctions)functions {
  // Follows the mode.
}
- (BOOL)fastMathEnabled {
  return [self mathMode] == MTLMathModeFast;
}
- (void)setFastMathEnabled:(BOOL)fast {
  [self setMathMode:fast ? MTLMathModeFast : MTLMathModeSafe];
}
- (NSDictionary*)preprocessorMacros {
  NSMutableDictionary* macros = [NSMutableDictionary dictionary];
  for (const auto& [name, value] : self_as<CompileOptionsObject>(self).options.definitions) {
    [macros setObject:string_of(value) forKey:string_of(name)];
  }
  return macros;
}
- (void)setPreprocessorMacros:(NSDictionary*)macros {
  auto& definitions = self_as<CompileOptionsObject>(self).options.definitions;
  definitions.clear();
  for (NSString* name in macros) {
    definitions.emplace_back([name UTF8String], metalloid::objective_c::describe([macros objectForKey:name]));
  }
}
@end

@implementation MTLFunctionConstantValues
- (instancetype)init {
  values = new metalloid::FunctionConstants;
  return self;
}
- (const void*)held {
  return values;
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index {
  static_cast<metalloid::FunctionConstants*>(values)->set(static_cast<std::uint32_t>(index), constant(value, type));
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name {
  static_cast<metalloid::FunctionConstants*>(values)->set(std::string([name UTF8String]), constant(value, type));
}
- (void)dealloc {
  delete static_cast<metalloid::FunctionConstants*>(values);
  [super dealloc];
}
@end
