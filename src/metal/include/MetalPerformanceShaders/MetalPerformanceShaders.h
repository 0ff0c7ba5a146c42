// <MetalPerformanceShaders/MetalPerformanceShaders.h>: the names that PyTorch's headers use. Apple's kernels are not
// here: a class of them raises an error that names it when it is used.
#pragma once

#import <Metal/Metal.h>

typedef NS_ENUM(uint32_t, MPSDataType) {
  MPSDataTypeInvalid = 0,
  MPSDataTypeFloatBit = 0x10000000,
  MPSDataTypeComplexBit = 0x01000000,
  MPSDataTypeSignedBit = 0x20000000,
  MPSDataTypeAlternateEncodingBit = 0x80000000,
  MPSDataTypeFloat32 = MPSDataTypeFloatBit | 32,
  MPSDataTypeFloat16 = MPSDataTypeFloatBit | 16,
  MPSDataTypeBFloat16 = MPSDataTypeAlternateEncodingBit | MPSDataTypeFloat16,
  MPSDataTypeComplexFloat32 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 64,
  MPSDataTypeComplexFloat16 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 32,
  MPSDataTypeInt8 = MPSDataTypeSignedBit | 8,
  MPSDataTypeInt16 = MPSDataTypeSignedBit | 16,
  MPSDataTypeInt32 = MPSDataTypeSignedBit | 32,
  MPSDataTypeInt64 = MPSDataTypeSignedBit | 64,
  MPSDataTypeUInt8 = 8,
  MPSDataTypeUInt16 = 16,
  MPSDataTypeUInt32 = 32,
  MPSDataTypeUInt64 = 64,
  MPSDataTypeBool = MPSDataTypeAlternateEncodingBit | 8,
};

typedef NSArray<NSNumber*> MPSShape;

@interface MPSCommandBuffer : NSObject <MTLCommandBuffer>
+ (instancetype)commandBufferWithCommandBuffer:(id<MTLCommandBuffer>)buffer;
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)queue;
- (void)commitAndContinue;
@end

@interface MPSKernel : NSObject
- (instancetype)initWithDevice:(id<MTLDevice>)device;
@end

@interface MPSNDArrayDescriptor : NSObject
+ (instancetype)descriptorWithDataType:(MPSDataType)type shape:(MPSShape*)shape;
@end
@interface MPSNDArray : NSObject
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor;
@property(readonly) NSUInteger numberOfDimensions;
@property(readonly) MPSDataType dataType;
@end
@interface MPSMatrixDescriptor : NSObject
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)rowBytes
                                dataType:(MPSDataType)type;
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)rowBytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)type;
@end
@interface MPSMatrix : NSObject
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSMatrixDescriptor*)descriptor;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor*)descriptor;
@end
@interface MPSMatrixMultiplication : MPSKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)left
                transposeRight:(BOOL)right
                    resultRows:(NSUInteger)rows
                 resultColumns:(NSUInteger)columns
               interiorColumns:(NSUInteger)interior
                         alpha:(double)alpha
                          beta:(double)beta;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix*)left
                  rightMatrix:(MPSMatrix*)right
                 resultMatrix:(MPSMatrix*)result;
@end
