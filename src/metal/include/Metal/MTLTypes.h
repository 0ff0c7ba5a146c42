// Sizes, types of data, and the names of what other headers declare.
#pragma once

#import <Foundation/Foundation.h>

typedef struct {
  NSUInteger x, y, z;
} MTLOrigin;
typedef struct {
  NSUInteger width, height, depth;
} MTLSize;
typedef struct {
  MTLOrigin origin;
  MTLSize size;
} MTLRegion;
typedef struct {
  NSUInteger size, align;
} MTLSizeAndAlign;
typedef struct {
  uint32_t threadgroupsPerGrid[3];
} MTLDispatchThreadgroupsIndirectArguments;
typedef struct {
  uint32_t location, length;
} MTLIndirectCommandBufferExecutionRange;
typedef struct {
  uint64_t _impl;
} MTLResourceID;
typedef uint64_t MTLTimestamp;
typedef uint64_t MTLGPUAddress;

static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  MTLSize size = {width, height, depth};
  return size;
}
static inline MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) {
  MTLOrigin origin = {x, y, z};
  return origin;
}

typedef NS_ENUM(NSUInteger, MTLDataType) {
  MTLDataTypeNone = 0,
  MTLDataTypeStruct = 1,
  MTLDataTypeArray = 2,
  MTLDataTypeFloat = 3,
  MTLDataTypeFloat2,
  MTLDataTypeFloat3,
  MTLDataTypeFloat4,
  MTLDataTypeFloat2x2,
  MTLDataTypeFloat2x3,
  MTLDataTypeFloat2x4,
  MTLDataTypeFloat3x2,
  MTLDataTypeFloat3x3,
  MTLDataTypeFloat3x4,
  MTLDataTypeFloat4x2,
  MTLDataTypeFloat4x3,
  MTLDataTypeFloat4x4,
  MTLDataTypeHalf = 16,
  MTLDataTypeHalf2,
  MTLDataTypeHalf3,
  MTLDataTypeHalf4,
  MTLDataTypeHalf2x2,
  MTLDataTypeHalf2x3,
  MTLDataTypeHalf2x4,
  MTLDataTypeHalf3x2,
  MTLDataTypeHalf3x3,
  MTLDataTypeHalf3x4,
  MTLDataTypeHalf4x2,
  MTLDataTypeHalf4x3,
  MTLDataTypeHalf4x4,
  MTLDataTypeInt = 29,
  MTLDataTypeInt2,
  MTLDataTypeInt3,
  MTLDataTypeInt4,
  MTLDataTypeUInt = 33,
  MTLDataTypeUInt2,
  MTLDataTypeUInt3,
  MTLDataTypeUInt4,
  MTLDataTypeShort = 37,
  MTLDataTypeShort2,
  MTLDataTypeShort3,
  MTLDataTypeShort4,
  MTLDataTypeUShort = 41,
  MTLDataTypeUShort2,
  MTLDataTypeUShort3,
  MTLDataTypeUShort4,
  MTLDataTypeChar = 45,
  MTLDataTypeChar2,
  MTLDataTypeChar3,
  MTLDataTypeChar4,
  MTLDataTypeUChar = 49,
  MTLDataTypeUChar2,
  MTLDataTypeUChar3,
  MTLDataTypeUChar4,
  MTLDataTypeBool = 53,
  MTLDataTypeBool2,
  MTLDataTypeBool3,
  MTLDataTypeBool4,
  MTLDataTypeTexture = 58,
  MTLDataTypeSampler = 59,
  MTLDataTypePointer = 60,
  MTLDataTypeIndirectCommandBuffer = 80,
  MTLDataTypeLong = 81,
  MTLDataTypeLong2,
  MTLDataTypeLong3,
  MTLDataTypeLong4,
  MTLDataTypeULong = 85,
  MTLDataTypeULong2,
  MTLDataTypeULong3,
  MTLDataTypeULong4,
  MTLDataTypeBFloat = 121,
  MTLDataTypeBFloat2,
  MTLDataTypeBFloat3,
  MTLDataTypeBFloat4,
  MTLDataTypeTensor = 140,
};

@protocol MTLAllocation, MTLArgumentEncoder, MTLBinaryArchive, MTLBinding, MTLBlitCommandEncoder, MTLBuffer,
    MTLBufferBinding, MTLCaptureScope, MTLCommandBuffer, MTLCommandEncoder, MTLCommandQueue, MTLComputeCommandEncoder,
    MTLComputePipelineState, MTLCounterSampleBuffer, MTLCounterSet, MTLDevice, MTLDynamicLibrary, MTLEvent, MTLFence,
    MTLFunction, MTLHeap, MTLIndirectCommandBuffer, MTLIndirectComputeCommand, MTLLibrary, MTLLogContainer, MTLLogState,
    MTLResidencySet, MTLResource, MTLSharedEvent, MTLTexture;
@class MTLArchitecture, MTLArgumentDescriptor, MTLCaptureDescriptor, MTLCaptureManager, MTLCommandBufferDescriptor,
    MTLCommandQueueDescriptor, MTLCompileOptions, MTLComputePassDescriptor, MTLComputePipelineDescriptor,
    MTLComputePipelineReflection, MTLFunctionConstantValues, MTLFunctionDescriptor, MTLHeapDescriptor,
    MTLIndirectCommandBufferDescriptor, MTLLinkedFunctions, MTLLogStateDescriptor, MTLResidencySetDescriptor,
    MTLSharedEventHandle, MTLSharedEventListener, MTLStructType, MTLPointerType;
