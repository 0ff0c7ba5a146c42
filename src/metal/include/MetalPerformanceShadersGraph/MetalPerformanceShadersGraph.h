// <MetalPerformanceShadersGraph/...>: the names that PyTorch's headers use. Graphs are not here: using one of these
// classes raises an error that names it.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

@interface MPSGraphTensor : NSObject <NSCopying>
@property(readonly) MPSShape* shape;
@property(readonly) MPSDataType dataType;
@end
@interface MPSGraphTensorData : NSObject
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer shape:(MPSShape*)shape dataType:(MPSDataType)type;
- (instancetype)initWithMPSNDArray:(MPSNDArray*)array;
@end
@interface MPSGraphOperation : NSObject
@end
@interface MPSGraphCompilationDescriptor : NSObject
@end
@interface MPSGraphExecutionDescriptor : NSObject
@end
typedef NSDictionary<MPSGraphTensor*, MPSGraphTensorData*> MPSGraphTensorDataDictionary;

@interface MPSGraph : NSObject
- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape name:(NSString*)name;
- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape dataType:(MPSDataType)type name:(NSString*)name;
- (MPSGraphTensor*)constantWithScalar:(double)scalar dataType:(MPSDataType)type;
- (MPSGraphTensor*)constantWithScalar:(double)scalar shape:(MPSShape*)shape dataType:(MPSDataType)type;
- (MPSGraphTensor*)castTensor:(MPSGraphTensor*)tensor toType:(MPSDataType)type name:(NSString*)name;
- (MPSGraphTensor*)identityWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name;
- (MPSGraphTensor*)additionWithPrimaryTensor:(MPSGraphTensor*)first
                             secondaryTensor:(MPSGraphTensor*)second
                                        name:(NSString*)name;
- (MPSGraphTensor*)subtractionWithPrimaryTensor:(MPSGraphTensor*)first
                                secondaryTensor:(MPSGraphTensor*)second
                                           name:(NSString*)name;
- (MPSGraphTensor*)multiplicationWithPrimaryTensor:(MPSGraphTensor*)first
                                   secondaryTensor:(MPSGraphTensor*)second
                                              name:(NSString*)name;
- (MPSGraphTensor*)divisionWithPrimaryTensor:(MPSGraphTensor*)first
                             secondaryTensor:(MPSGraphTensor*)second
                                        name:(NSString*)name;
- (MPSGraphTensor*)reductionSumWithTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString*)name;
- (MPSGraphTensor*)reductionMaximumWithTensor:(MPSGraphTensor*)tensor
                                         axes:(NSArray<NSNumber*>*)axes
                                         name:(NSString*)name;
- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)first
                                         secondaryTensor:(MPSGraphTensor*)second
                                                    name:(NSString*)name;
- (MPSGraphTensor*)softMaxWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name;
- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)tensor withShape:(MPSShape*)shape name:(NSString*)name;
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                         dimension:(NSUInteger)first
                     withDimension:(NSUInteger)second
                              name:(NSString*)name;
@end
