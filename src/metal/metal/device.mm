// MTLDevice: what a device is, and what it makes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "metal/metal/device_facts.h"
#include "metal/metal/faces.h"
#include "metal/metal/parts.h"
#include "metal/system/memory.h"

using namespace metalloid::metal;

namespace {

// What another thread makes meanwhile.
template <typename Make>
void later(const Make& make) {
  auto* work = new Make(make);
  dispatch_async_f(dispatch_get_global_queue(0, 0), work, [](void* given) {
    auto* one = static_cast<Make*>(given);
    (*one)();
    delete one;
  });
}

}  // namespace

@implementation MTLArchitecture
- (NSString*)name {
  return string_of(device_facts().architecture);
}
@end

@interface MetalloidDevice : NSObject <MTLDevice>
@end
@implementation MetalloidDevice
- (NSString*)name {
  return string_of(device_facts().name + " (Metalloid on " + self_as<DeviceObject>(self).device.name() + ")");
}
- (NSString*)description {
  return [self name];
}
- (uint64_t)registryID {
  const auto& all = all_devices();
  return 0x100000000 + static_cast<uint64_t>(std::ranges::find(all, &self_as<DeviceObject>(self)) - all.begin());
}
- (MTLArchitecture*)architecture {
  static MTLArchitecture* const one = [[MTLArchitecture alloc] init];
  return one;
}
- (MTLSize)maxThreadsPerThreadgroup {
  const metalloid::Limits limits = self_as<DeviceObject>(self).device.limits();
  return MTLSizeMake(limits.threads_per_threadgroup, limits.threads_per_threadgroup, limits.threads_per_threadgroup);
}
- (NSUInteger)maxThreadgroupMemoryLength {
  return self_as<DeviceObject>(self).device.limits().threadgroup_memory_bytes;
}
- (NSUInteger)maxBufferLength {
  return device_facts().largest_buffer;
}
- (uint64_t)recommendedMaxWorkingSetSize {
  return device_facts().working_set;
}
- (NSUInteger)currentAllocatedSize {
  return self_as<DeviceObject>(self).allocated_bytes;
}
- (BOOL)hasUnifiedMemory {
  return self_as<DeviceObject>(self).shares_memory_with_host();
}
- (BOOL)isLowPower {
  return NO;
}
- (BOOL)isHeadless {
  return NO;
}
- (BOOL)isRemovable {
  return NO;
}
- (MTLDeviceLocation)location {
  return MTLDeviceLocationBuiltIn;
}
- (NSUInteger)locationNumber {
  return 0;
}
- (uint64_t)maxTransferRate {
  return 0;
}
- (MTLReadWriteTextureTier)readWriteTextureSupport {
  return MTLReadWriteTextureTierNone;
}
- (MTLArgumentBuffersTier)argumentBuffersSupport {
  return MTLArgumentBuffersTier2;
}
- (NSUInteger)maxArgumentBufferSamplerCount {
  return 0;
}
- (NSUInteger)maximumConcurrentCompilationTaskCount {
  return std::thread::hardware_concurrency();
}
- (BOOL)shouldMaximizeConcurrentCompilation {
  return YES;
}
- (void)setShouldMaximizeConcurrentCompilation:(BOOL)maximize {
}
- (BOOL)supportsFunctionPointers {
  return NO;
}
- (BOOL)supportsDynamicLibraries {
  return NO;
}
- (BOOL)supportsRaytracing {
  return NO;
}
- (BOOL)supportsShaderBarycentricCoordinates {
  return NO;
}
- (uint64_t)peerGroupID {
  return 0;
}
- (uint32_t)peerIndex {
  return 0;
}
- (uint32_t)peerCount {
  return 0;
}
- (NSArray<id<MTLCounterSet>>*)counterSets {
  return counter_sets();
}
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)point {
  return point == MTLCounterSamplingPointAtStageBoundary;
}
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor*)descriptor
                                                             error:(NSError**)error {
  return new_sample_buffer(self, descriptor, error);
}
- (BOOL)supportsFamily:(MTLGPUFamily)family {
  return std::ranges::find(device_facts().families, family) != device_facts().families.end();
}
- (void)sampleTimestamps:(MTLTimestamp*)processor gpuTimestamp:(MTLTimestamp*)gpu {
  *processor = *gpu = timestamp();
}

- (id<MTLCommandQueue>)newCommandQueue {
  return (id)make_object<QueueObject>(&self_as<DeviceObject>(self));
}
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count {
  return [self newCommandQueue];
}
- (id<MTLCommandQueue>)newCommandQueueWithDescriptor:(MTLCommandQueueDescriptor*)descriptor {
  auto* queue = make_object<QueueObject>(&self_as<DeviceObject>(self));
  if ([descriptor logState]) queue->log = held([descriptor logState]);
  return (id)queue;
}

- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return {heap_size(length), heap_alignment};
}
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor {
  return new_heap(self_as<DeviceObject>(self), descriptor);
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return new_buffer(self_as<DeviceObject>(self), length, options);
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)bytes length:(NSUInteger)length options:(MTLResourceOptions)options {
  id<MTLBuffer> buffer = new_buffer(self_as<DeviceObject>(self), length, options);
  if (buffer) self_as<BufferObject>(buffer).buffer.write(0, {static_cast<const std::byte*>(bytes), length});
  return buffer;
}
// Any memory, although Metal's documentation asks for whole pages: ggml wraps where its caller wants results, and
// refusing that has no use here.
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)memory
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void* memory, NSUInteger length))deallocator {
  if (!memory || length == 0) return nil;
  std::shared_ptr<void> owner;
  if (deallocator) {
    owner = std::shared_ptr<void>(memory, [block = copied((id)deallocator), length](void* owned) {
      ((void (^)(void*, NSUInteger))block.get())(owned, length);
    });
  }
  return wrap_memory(self_as<DeviceObject>(self), memory, length, options, std::move(owner));
}
- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor*)descriptor error:(NSError**)error {
  return reported(error, [&] { return new_residency_set(self, descriptor); });
}
- (id<MTLIndirectCommandBuffer>)newIndirectCommandBufferWithDescriptor:(MTLIndirectCommandBufferDescriptor*)descriptor
                                                       maxCommandCount:(NSUInteger)count
                                                               options:(MTLResourceOptions)options {
  return new_indirect_command_buffer(self, descriptor, count);
}

- (id<MTLFence>)newFence {
  return new_fence(self);
}
- (id<MTLEvent>)newEvent {
  return new_event(self);
}
- (id<MTLSharedEvent>)newSharedEvent {
  return new_event(self);
}
- (id<MTLLogState>)newLogStateWithDescriptor:(MTLLogStateDescriptor*)descriptor error:(NSError**)error {
  return reported(error, [&] { return new_log_state(descriptor); });
}

- (id<MTLLibrary>)newDefaultLibrary {
  return [self newDefaultLibraryWithBundle:[NSBundle mainBundle] error:nullptr];
}
- (id<MTLLibrary>)newDefaultLibraryWithBundle:(NSBundle*)bundle error:(NSError**)error {
  NSString* path = [bundle pathForResource:@"default" ofType:@"metallib"];
  if (path) return [self newLibraryWithFile:path error:error];
  return reported(error, [&]() -> LibraryObject* {
    throw metalloid::Error(metalloid::ErrorCode::input_output,
                           fmt::format("library not found: default.metallib in {}", text_of([bundle resourcePath])));
  });
}
- (id<MTLLibrary>)newLibraryWithFile:(NSString*)path error:(NSError**)error {
  return reported(error, [&] { return load_library_file(std::string(text_of(path)), &self_as<DeviceObject>(self)); });
}
- (id<MTLLibrary>)newLibraryWithURL:(NSURL*)url error:(NSError**)error {
  return [self newLibraryWithFile:[url path] error:error];
}
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError**)error {
  const void* bytes = nullptr;
  size_t size = 0;
  dispatch_data_t mapped = dispatch_data_create_map(data, &bytes, &size);
  id<MTLLibrary> library = reported(
      error, [&] { return load_library({static_cast<const char*>(bytes), size}, &self_as<DeviceObject>(self)); });
  dispatch_release(mapped);
  return library;
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source options:(MTLCompileOptions*)options error:(NSError**)error {
  return reported(error, [&] {
    return compile_library(std::string(text_of(source)), (__bridge void*)options, &self_as<DeviceObject>(self));
  });
}
- (void)newLibraryWithSource:(NSString*)source
                     options:(MTLCompileOptions*)options
           completionHandler:(MTLNewLibraryCompletionHandler)handler {
  later([=, source = held([source copy]), own = held([options copy]), block = copied((id)handler)] {
    NSError* error = nil;
    id<MTLLibrary> library = [self newLibraryWithSource:(id)source.get() options:(id)own.get() error:&error];
    ((MTLNewLibraryCompletionHandler)block.get())(library, error);
    [library release];
  });
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError**)error {
  return new_pipeline(function, nil, nullptr, error);
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                           options:(MTLPipelineOption)options
                                                        reflection:(MTLAutoreleasedComputePipelineReflection*)reflection
                                                             error:(NSError**)error {
  return new_pipeline(function, nil, reflection, error);
}
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                          completionHandler:(MTLNewComputePipelineStateCompletionHandler)handler {
  later([function = held(function), block = copied((id)handler)] {
    NSError* error = nil;
    id<MTLComputePipelineState> state = new_pipeline((id)function.get(), nil, nullptr, &error);
    ((MTLNewComputePipelineStateCompletionHandler)block.get())(state, error);
    [state release];
  });
}
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                    options:(MTLPipelineOption)options
                          completionHandler:(MTLNewComputePipelineStateWithReflectionCompletionHandler)handler {
  MTLComputePipelineDescriptor* descriptor = [[MTLComputePipelineDescriptor alloc] init];
  [descriptor setComputeFunction:function];
  [self newComputePipelineStateWithDescriptor:descriptor options:options completionHandler:handler];
  [descriptor release];
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                                             options:(MTLPipelineOption)options
                                                          reflection:
                                                              (MTLAutoreleasedComputePipelineReflection*)reflection
                                                               error:(NSError**)error {
  return new_pipeline([descriptor computeFunction], descriptor, reflection, error);
}
- (void)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                      options:(MTLPipelineOption)options
                            completionHandler:(MTLNewComputePipelineStateWithReflectionCompletionHandler)handler {
  later([own = held([descriptor copy]), block = copied((id)handler)] {
    NSError* error = nil;
    MTLComputePipelineReflection* reflection = nil;
    MTLComputePipelineDescriptor* given = (id)own.get();
    id<MTLComputePipelineState> state = new_pipeline([given computeFunction], given, &reflection, &error);
    ((MTLNewComputePipelineStateWithReflectionCompletionHandler)block.get())(state, reflection, error);
    [state release];
  });
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void) { return (id)retain(default_device()); }

NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  NSMutableArray* all = [[NSMutableArray alloc] init];
  for (DeviceObject* one : all_devices()) [all addObject:(id)one];
  return all;
}

NSArray<id<MTLDevice>>* MTLCopyAllDevicesWithObserver(id<NSObject>* observer, MTLDeviceNotificationHandler) {
  if (observer) *observer = [[[NSObject alloc] init] autorelease];
  return MTLCopyAllDevices();
}
void MTLRemoveDeviceObserver(id<NSObject>) {}
