// Source and what is compiled of it: options, libraries, functions and their constants.
#pragma once

#import <Metal/MTLTypes.h>

typedef NS_ENUM(NSUInteger, MTLFunctionType) {
  MTLFunctionTypeVertex = 1,
  MTLFunctionTypeFragment = 2,
  MTLFunctionTypeKernel = 3,
  MTLFunctionTypeVisible = 5,
  MTLFunctionTypeIntersection = 6,
  MTLFunctionTypeMesh = 7,
  MTLFunctionTypeObject = 8,
};
typedef NS_ENUM(NSUInteger, MTLLanguageVersion) {
  MTLLanguageVersion1_0 = (1 << 16),
  MTLLanguageVersion1_1 = (1 << 16) + 1,
  MTLLanguageVersion1_2 = (1 << 16) + 2,
  MTLLanguageVersion2_0 = (2 << 16),
  MTLLanguageVersion2_1 = (2 << 16) + 1,
  MTLLanguageVersion2_2 = (2 << 16) + 2,
  MTLLanguageVersion2_3 = (2 << 16) + 3,
  MTLLanguageVersion2_4 = (2 << 16) + 4,
  MTLLanguageVersion3_0 = (3 << 16),
  MTLLanguageVersion3_1 = (3 << 16) + 1,
  MTLLanguageVersion3_2 = (3 << 16) + 2,
  MTLLanguageVersion4_0 = (4 << 16),
};
typedef NS_ENUM(NSInteger, MTLLibraryType) { MTLLibraryTypeExecutable = 0, MTLLibraryTypeDynamic = 1 };
typedef NS_ENUM(NSInteger, MTLLibraryOptimizationLevel) {
  MTLLibraryOptimizationLevelDefault = 0,
  MTLLibraryOptimizationLevelSize = 1,
};
typedef NS_ENUM(NSInteger, MTLMathMode) { MTLMathModeSafe = 0, MTLMathModeRelaxed = 1, MTLMathModeFast = 2 };
typedef NS_ENUM(NSInteger, MTLMathFloatingPointFunctions) {
  MTLMathFloatingPointFunctionsFast = 0,
  MTLMathFloatingPointFunctionsPrecise = 1,
};
typedef NS_ENUM(NSUInteger, MTLLibraryError) {
  MTLLibraryErrorUnsupported = 1,
  MTLLibraryErrorInternal = 2,
  MTLLibraryErrorCompileFailure = 3,
  MTLLibraryErrorCompileWarning = 4,
  MTLLibraryErrorFunctionNotFound = 5,
  MTLLibraryErrorFileNotFound = 6,
};
typedef NS_OPTIONS(NSUInteger, MTLFunctionOptions) {
  MTLFunctionOptionNone = 0,
  MTLFunctionOptionCompileToBinary = 1,
};
FOUNDATION_EXPORT NSErrorDomain const MTLLibraryErrorDomain;

@interface MTLCompileOptions : NSObject <NSCopying>
@property(copy, nonatomic) NSDictionary<NSString*, NSObject*>* preprocessorMacros;
@property(nonatomic) BOOL fastMathEnabled;
@property(nonatomic) MTLMathMode mathMode;
@property(nonatomic) MTLMathFloatingPointFunctions mathFloatingPointFunctions;
@property(nonatomic) MTLLanguageVersion languageVersion;
@property(nonatomic) MTLLibraryType libraryType;
@property(copy, nonatomic) NSString* installName;
@property(nonatomic) BOOL preserveInvariance;
@property(nonatomic) MTLLibraryOptimizationLevel optimizationLevel;
@property(nonatomic) BOOL enableLogging;
@property(nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@end

@interface MTLFunctionConstantValues : NSObject <NSCopying>
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index;
- (void)setConstantValues:(const void*)values type:(MTLDataType)type withRange:(NSRange)range;
- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name;
- (void)reset;
@end

@interface MTLFunctionConstant : NSObject
@property(readonly) NSString* name;
@property(readonly) MTLDataType type;
@property(readonly) NSUInteger index;
@property(readonly) BOOL required;
@end

@interface MTLFunctionDescriptor : NSObject <NSCopying>
+ (MTLFunctionDescriptor*)functionDescriptor;
@property(copy, nonatomic) NSString* name;
@property(copy, nonatomic) NSString* specializedName;
@property(copy, nonatomic) MTLFunctionConstantValues* constantValues;
@property(nonatomic) MTLFunctionOptions options;
@end

@interface MTLLinkedFunctions : NSObject <NSCopying>
+ (MTLLinkedFunctions*)linkedFunctions;
@property(copy, nonatomic) NSArray<id<MTLFunction>>* functions;
@property(copy, nonatomic) NSArray<id<MTLFunction>>* binaryFunctions;
@property(copy, nonatomic) NSArray<id<MTLFunction>>* privateFunctions;
@end

@protocol MTLFunction <NSObject>
@property(copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString* name;
@property(readonly) MTLFunctionType functionType;
@property(readonly) NSDictionary<NSString*, MTLFunctionConstant*>* functionConstantsDictionary;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index;
@end

@protocol MTLLibrary <NSObject>
@property(copy, atomic) NSString* label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSArray<NSString*>* functionNames;
@property(readonly) MTLLibraryType type;
@property(readonly) NSString* installName;
- (id<MTLFunction>)newFunctionWithName:(NSString*)name;
- (id<MTLFunction>)newFunctionWithName:(NSString*)name
                        constantValues:(MTLFunctionConstantValues*)values
                                 error:(NSError**)error;
- (void)newFunctionWithName:(NSString*)name
             constantValues:(MTLFunctionConstantValues*)values
          completionHandler:(void (^)(id<MTLFunction> function, NSError* error))handler;
- (id<MTLFunction>)newFunctionWithDescriptor:(MTLFunctionDescriptor*)descriptor error:(NSError**)error;
- (void)newFunctionWithDescriptor:(MTLFunctionDescriptor*)descriptor
                completionHandler:(void (^)(id<MTLFunction> function, NSError* error))handler;
@end
