// Devices, and what they make.
#pragma once

#import <Metal/MTLCounters.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLResource.h>

typedef NS_ENUM(NSInteger, MTLGPUFamily) {
  MTLGPUFamilyApple1 = 1001,
  MTLGPUFamilyApple2 = 1002,
  MTLGPUFamilyApple3 = 1003,
  MTLGPUFamilyApple4 = 1004,
  MTLGPUFamilyApple5 = 1005,
  MTLGPUFamilyApple6 = 1006,
  MTLGPUFamilyApple7 = 1007,
  MTLGPUFamilyApple8 = 1008,
  MTLGPUFamilyApple9 = 1009,
  MTLGPUFamilyApple10 = 1010,
  MTLGPUFamilyMac1 = 2001,
  MTLGPUFamilyMac2 = 2002,
  MTLGPUFamilyCommon1 = 3001,
  MTLGPUFamilyCommon2 = 3002,
  MTLGPUFamilyCommon3 = 3003,
  MTLGPUFamilyMacCatalyst1 = 4001,
  MTLGPUFamilyMacCatalyst2 = 4002,
  MTLGPUFamilyMetal3 = 5001,
  MTLGPUFamilyMetal4 = 5002,
};
typedef NS_ENUM(NSUInteger, MTLDeviceLocation) {
  MTLDeviceLocationBuiltIn = 0,
  MTLDeviceLocationSlot = 1,
  MTLDeviceLocationExternal = 2,
  MTLDeviceLocationUnspecified = NSUIntegerMax,
};
typedef NS_ENUM(NSUInteger, MTLReadWriteTextureTier) {
  MTLReadWriteTextureTierNone = 0,
  MTLReadWriteTextureTier1 = 1,
  MTLReadWriteTextureTier2 = 2,
};
typedef NS_ENUM(NSUInteger, MTLArgumentBuffersTier) {
  MTLArgumentBuffersTier1 = 0,
  MTLArgumentBuffersTier2 = 1,
};

@interface MTLArchitecture : NSObject <NSCopying>
@property(readonly, nonatomic) NSString* name;
@end

typedef void (^MTLNewLibraryCompletionHandler)(id<MTLLibrary> library, NSError* error);
typedef void (^MTLNewComputePipelineStateCompletionHandler)(id<MTLComputePipelineState> state, NSError* error);
typedef void (^MTLNewComputePipelineStateWithReflectionCompletionHandler)(id<MTLComputePipelineState> state,
                                                                          MTLComputePipelineReflection* reflection,
                                                                          NSError* error);

@protocol MTLDevice <NSObject>
@property(readonly) NSString* name;
@property(readonly) uint64_t registryID;
@property(readonly) MTLArchitecture* architecture;
@property(readonly) MTLSize maxThreadsPerThreadgroup;
@property(readonly, getter=isLowPower) BOOL lowPower;
@property(readonly, getter=isHeadless) BOOL headless;
@property(readonly, getter=isRemovable) BOOL removable;
@property(readonly) BOOL hasUnifiedMemory;
@property(readonly) uint64_t recommendedMaxWorkingSetSize;
@property(readonly) MTLDeviceLocation location;
@property(readonly) NSUInteger locationNumber;
@property(readonly) uint64_t maxTransferRate;
@property(readonly) MTLReadWriteTextureTier readWriteTextureSupport;
@property(readonly) MTLArgumentBuffersTier argumentBuffersSupport;
@property(readonly) NSUInteger currentAllocatedSize;
@property(readonly) NSUInteger maxThreadgroupMemoryLength;
@property(readonly) NSUInteger maxBufferLength;
@property(readonly) NSUInteger maxArgumentBufferSamplerCount;
@property(readonly) NSUInteger maximumConcurrentCompilationTaskCount;
@property BOOL shouldMaximizeConcurrentCompilation;
@property(readonly) BOOL supportsFunctionPointers;
@property(readonly) BOOL supportsDynamicLibraries;
@property(readonly) BOOL supportsRaytracing;
@property(readonly) BOOL supportsShaderBarycentricCoordinates;
@property(readonly) uint64_t peerGroupID;
@property(readonly) uint32_t peerIndex;
@property(readonly) uint32_t peerCount;
@property(readonly) NSArray<id<MTLCounterSet>>* counterSets;
- (BOOL)supportsFamily:(MTLGPUFamily)family;
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)point;
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor*)descriptor
                                                             error:(NSError**)error;
- (void)sampleTimestamps:(MTLTimestamp*)processor gpuTimestamp:(MTLTimestamp*)gpu;

- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count;
- (id<MTLCommandQueue>)newCommandQueueWithDescriptor:(MTLCommandQueueDescriptor*)descriptor;

- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytes:(const void*)bytes length:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)memory
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void* memory, NSUInteger length))deallocator;
- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor*)descriptor error:(NSError**)error;
- (id<MTLIndirectCommandBuffer>)newIndirectCommandBufferWithDescriptor:(MTLIndirectCommandBufferDescriptor*)descriptor
                                                       maxCommandCount:(NSUInteger)count
                                                               options:(MTLResourceOptions)options;

- (id<MTLFence>)newFence;
- (id<MTLEvent>)newEvent;
- (id<MTLSharedEvent>)newSharedEvent;
- (id<MTLLogState>)newLogStateWithDescriptor:(MTLLogStateDescriptor*)descriptor error:(NSError**)error;

- (id<MTLLibrary>)newDefaultLibrary;
- (id<MTLLibrary>)newDefaultLibraryWithBundle:(NSBundle*)bundle error:(NSError**)error;
- (id<MTLLibrary>)newLibraryWithFile:(NSString*)path error:(NSError**)error;
- (id<MTLLibrary>)newLibraryWithURL:(NSURL*)url error:(NSError**)error;
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError**)error;
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source options:(MTLCompileOptions*)options error:(NSError**)error;
- (void)newLibraryWithSource:(NSString*)source
                     options:(MTLCompileOptions*)options
           completionHandler:(MTLNewLibraryCompletionHandler)handler;

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError**)error;
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                           options:(MTLPipelineOption)options
                                                        reflection:(MTLAutoreleasedComputePipelineReflection*)reflection
                                                             error:(NSError**)error;
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                          completionHandler:(MTLNewComputePipelineStateCompletionHandler)handler;
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                    options:(MTLPipelineOption)options
                          completionHandler:(MTLNewComputePipelineStateWithReflectionCompletionHandler)handler;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:(MTLAutoreleasedComputePipelineReflection*)reflection
                                    error:(NSError**)error;
- (void)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                      options:(MTLPipelineOption)options
                            completionHandler:(MTLNewComputePipelineStateWithReflectionCompletionHandler)handler;
@end

OBJC_EXTERN id<MTLDevice> MTLCreateSystemDefaultDevice(void);
// Retained. What METALLOID_DEVICE names comes first.
OBJC_EXTERN NSArray<id<MTLDevice>>* MTLCopyAllDevices(void);

// Devices neither come nor go.
typedef NSString* MTLDeviceNotificationName;
typedef void (^MTLDeviceNotificationHandler)(id<MTLDevice> device, MTLDeviceNotificationName name);
OBJC_EXTERN NSArray<id<MTLDevice>>* MTLCopyAllDevicesWithObserver(id<NSObject>* observer,
                                                                  MTLDeviceNotificationHandler handler);
OBJC_EXTERN void MTLRemoveDeviceObserver(id<NSObject> observer);
