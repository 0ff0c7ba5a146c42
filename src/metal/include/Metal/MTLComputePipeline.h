// Pipeline states of kernels, what they are made of, and what they say of themselves.
#pragma once

#import <Metal/MTLLibrary.h>

typedef NS_ENUM(NSUInteger, MTLMutability) {
  MTLMutabilityDefault = 0,
  MTLMutabilityMutable = 1,
  MTLMutabilityImmutable = 2,
};
typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
  MTLPipelineOptionNone = 0,
  MTLPipelineOptionArgumentInfo = 1,
  MTLPipelineOptionBindingInfo = 1,
  MTLPipelineOptionBufferTypeInfo = 1 << 1,
  MTLPipelineOptionFailOnBinaryArchiveMiss = 1 << 2,
};
typedef NS_ENUM(NSInteger, MTLBindingType) {
  MTLBindingTypeBuffer = 0,
  MTLBindingTypeThreadgroupMemory = 1,
  MTLBindingTypeTexture = 2,
  MTLBindingTypeSampler = 3,
  MTLBindingTypeTensor = 37,
};
typedef NS_ENUM(NSUInteger, MTLArgumentType) {
  MTLArgumentTypeBuffer = 0,
  MTLArgumentTypeThreadgroupMemory = 1,
  MTLArgumentTypeTexture = 2,
  MTLArgumentTypeSampler = 3,
};
typedef NS_ENUM(NSUInteger, MTLBindingAccess) {
  MTLBindingAccessReadOnly = 0,
  MTLBindingAccessReadWrite = 1,
  MTLBindingAccessWriteOnly = 2,
  MTLArgumentAccessReadOnly = 0,
  MTLArgumentAccessReadWrite = 1,
  MTLArgumentAccessWriteOnly = 2,
};
typedef MTLBindingAccess MTLArgumentAccess;

@interface MTLPipelineBufferDescriptor : NSObject <NSCopying>
@property(nonatomic) MTLMutability mutability;
@end

@interface MTLPipelineBufferDescriptorArray : NSObject
- (MTLPipelineBufferDescriptor*)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(MTLPipelineBufferDescriptor*)buffer atIndexedSubscript:(NSUInteger)index;
@end

@interface MTLComputePipelineDescriptor : NSObject <NSCopying>
@property(copy, nonatomic) NSString* label;
@property(retain, nonatomic) id<MTLFunction> computeFunction;
@property(nonatomic) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property(nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@property(nonatomic) NSUInteger maxCallStackDepth;
@property(readonly) MTLPipelineBufferDescriptorArray* buffers;
@property(nonatomic) BOOL supportIndirectCommandBuffers;
@property(copy, nonatomic) MTLLinkedFunctions* linkedFunctions;
@property(copy, nonatomic) NSArray<id<MTLDynamicLibrary>>* preloadedLibraries;
@property(copy, nonatomic) NSArray<id<MTLBinaryArchive>>* binaryArchives;
@property(nonatomic) BOOL supportAddingBinaryFunctions;
- (void)reset;
@end

@protocol MTLBinding <NSObject>
@property(readonly) NSString* name;
@property(readonly) MTLBindingType type;
@property(readonly) MTLBindingAccess access;
@property(readonly) NSUInteger index;
@property(readonly, getter=isUsed) BOOL used;
@property(readonly, getter=isArgument) BOOL argument;
@end

@protocol MTLBufferBinding <MTLBinding>
@property(readonly) NSUInteger bufferAlignment;
@property(readonly) NSUInteger bufferDataSize;
@property(readonly) MTLDataType bufferDataType;
@end

@protocol MTLThreadgroupBinding <MTLBinding>
@property(readonly) NSUInteger threadgroupMemoryAlignment;
@property(readonly) NSUInteger threadgroupMemoryDataSize;
@end

@interface MTLComputePipelineReflection : NSObject
@property(readonly) NSArray<id<MTLBinding>>* bindings;
@property(readonly) NSArray<id<MTLBinding>>* arguments;
@end
typedef MTLComputePipelineReflection* MTLAutoreleasedComputePipelineReflection;

@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSString* label;
@property(readonly) id<MTLDevice> device;
@property(readonly) MTLComputePipelineReflection* reflection;
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
@property(readonly) BOOL supportIndirectCommandBuffers;
@property(readonly) MTLResourceID gpuResourceID;
@end
