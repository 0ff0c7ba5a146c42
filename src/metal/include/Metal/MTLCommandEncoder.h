// What records commands: dispatches, copies, and commands of indirect command buffers.
#pragma once

#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCounters.h>

typedef NS_OPTIONS(NSUInteger, MTLResourceUsage) {
  MTLResourceUsageRead = 1,
  MTLResourceUsageWrite = 1 << 1,
  MTLResourceUsageSample = 1 << 2,
};
typedef NS_OPTIONS(NSUInteger, MTLBarrierScope) {
  MTLBarrierScopeBuffers = 1,
  MTLBarrierScopeTextures = 1 << 1,
};
typedef NS_OPTIONS(NSUInteger, MTLBlitOption) { MTLBlitOptionNone = 0 };

@protocol MTLCommandEncoder <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy, atomic) NSString* label;
- (void)endEncoding;
- (void)insertDebugSignpost:(NSString*)text;
- (void)pushDebugGroup:(NSString*)name;
- (void)popDebugGroup;
@end

@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
@property(readonly) MTLDispatchType dispatchType;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)range;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)useResources:(const id<MTLResource>[])resources count:(NSUInteger)count usage:(MTLResourceUsage)usage;
- (void)useHeap:(id<MTLHeap>)heap;
- (void)useHeaps:(const id<MTLHeap>[])heaps count:(NSUInteger)count;
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
- (void)memoryBarrierWithResources:(const id<MTLResource>[])resources count:(NSUInteger)count;
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)buffer
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier;
@end

@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)synchronizeResource:(id<MTLResource>)resource;
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destination
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size;
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture;
- (void)resetCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range;
- (void)optimizeIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range;
@end

@protocol MTLArgumentEncoder <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy, atomic) NSString* label;
@property(readonly) NSUInteger encodedLength;
@property(readonly) NSUInteger alignment;
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer startOffset:(NSUInteger)offset arrayElement:(NSUInteger)element;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)range;
- (void*)constantDataAtIndex:(NSUInteger)index;
@end

@interface MTLComputePassDescriptor : NSObject <NSCopying>
+ (MTLComputePassDescriptor*)computePassDescriptor;
@property(nonatomic) MTLDispatchType dispatchType;
@property(readonly) MTLComputePassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments;
@end

typedef NS_OPTIONS(NSUInteger, MTLIndirectCommandType) {
  MTLIndirectCommandTypeConcurrentDispatch = 1 << 5,
  MTLIndirectCommandTypeConcurrentDispatchThreads = 1 << 6,
};

@interface MTLIndirectCommandBufferDescriptor : NSObject <NSCopying>
@property(nonatomic) MTLIndirectCommandType commandTypes;
@property(nonatomic) BOOL inheritPipelineState;
@property(nonatomic) BOOL inheritBuffers;
@property(nonatomic) NSUInteger maxKernelBufferBindCount;
@property(nonatomic) NSUInteger maxKernelThreadgroupMemoryBindCount;
@end

@protocol MTLIndirectComputeCommand <NSObject>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setKernelBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)concurrentDispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group;
- (void)concurrentDispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group;
- (void)setBarrier;
- (void)clearBarrier;
- (void)reset;
@end

@protocol MTLIndirectCommandBuffer <MTLResource>
@property(readonly) NSUInteger size;
- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)index;
- (void)resetWithRange:(NSRange)range;
@end
