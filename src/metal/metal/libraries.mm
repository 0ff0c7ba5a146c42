// MTLLibrary, MTLFunction and what they are asked with.
#include <fmt/format.h>

#include <string>

#include "metal/metal/argument_encoder.h"
#include "metal/metal/data_types.h"
#include "metal/metal/faces.h"
#include "metal/metal/validation.h"

using namespace metalloid::metal;

NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

namespace metalloid::metal {

NSError* library_error(const std::exception& failure) {
  const auto* known = dynamic_cast<const Error*>(&failure);
  const auto code = [&]() -> MTLLibraryError {
    if (!known) return MTLLibraryErrorInternal;
    switch (known->code()) {
      case ErrorCode::compile_error: return MTLLibraryErrorCompileFailure;
      case ErrorCode::unknown_function: return MTLLibraryErrorFunctionNotFound;
      case ErrorCode::unsupported: return MTLLibraryErrorUnsupported;
      case ErrorCode::input_output: return MTLLibraryErrorFileNotFound;
      default: return MTLLibraryErrorInternal;
    }
  }();
  return objective_c::error_of(MTLLibraryErrorDomain, static_cast<NSInteger>(code), failure.what());
}

}  // namespace metalloid::metal

@interface MTLFunctionConstantValues (Held)
- (const metalloid::FunctionConstants&)held;
@end

@interface MetalloidLibrary : NSObject <MTLLibrary>
@end
@implementation MetalloidLibrary
METALLOID_LABEL(LibraryObject)
- (id<MTLDevice>)device {
  return (id)self_as<LibraryObject>(self).device;
}
- (MTLLibraryType)type {
  return MTLLibraryTypeExecutable;
}
- (NSString*)installName {
  return nil;
}
- (NSArray<NSString*>*)functionNames {
  NSMutableArray* names = [NSMutableArray array];
  for (const auto& [name, _] : self_as<LibraryObject>(self).part_of) [names addObject:string_of(name)];
  return names;
}
- (const metalloid::Library&)partWith:(NSString*)name {
  auto& library = self_as<LibraryObject>(self);
  const auto found = library.part_of.find(text_of(name));
  if (found == library.part_of.end()) {
    throw metalloid::Error(metalloid::ErrorCode::unknown_function,
                           fmt::format("the library has no kernel {}", text_of(name)));
  }
  return library.parts[found->second].library();
}
// Compiled when a pipeline state is made of it, which says what is wrong with it.
- (id<MTLFunction>)newFunctionWithName:(NSString*)name {
  return reported(nullptr, [&] {
    return make_object<FunctionObject>(std::string(text_of(name)), [self partWith:name],
                                       self_as<LibraryObject>(self).device);
  });
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name
                        constantValues:(MTLFunctionConstantValues*)values
                                 error:(NSError**)error {
  return reported(error, [&] {
    const metalloid::Library& part = [self partWith:name];
    metalloid::FunctionConstants given = values ? [values held] : metalloid::FunctionConstants();
    const auto kernel = part.kernel(text_of(name), given.set_lenient(!is_validating()));
    return make_object<FunctionObject>(std::string(text_of(name)), kernel, self_as<LibraryObject>(self).device);
  });
}
- (void)newFunctionWithName:(NSString*)name
             constantValues:(MTLFunctionConstantValues*)values
          completionHandler:(void (^)(id<MTLFunction> function, NSError* error))handler {
  NSError* error = nil;
  id<MTLFunction> function = [self newFunctionWithName:name constantValues:values error:&error];
  handler(function, error);
  [function release];
}
- (id<MTLFunction>)newFunctionWithDescriptor:(MTLFunctionDescriptor*)descriptor error:(NSError**)error {
  id<MTLFunction> function = [self newFunctionWithName:[descriptor name]
                                        constantValues:[descriptor constantValues]
                                                 error:error];
  if (function && [descriptor specializedName]) {
    self_as<FunctionObject>(function).name = std::string(text_of([descriptor specializedName]));
  }
  return function;
}
- (void)newFunctionWithDescriptor:(MTLFunctionDescriptor*)descriptor
                completionHandler:(void (^)(id<MTLFunction> function, NSError* error))handler {
  NSError* error = nil;
  id<MTLFunction> function = [self newFunctionWithDescriptor:descriptor error:&error];
  handler(function, error);
  [function release];
}
@end

@implementation MTLFunctionConstant {
 @public
  std::string itsName;
  MTLDataType itsType;
  NSUInteger itsIndex;
}
- (NSString*)name {
  return string_of(itsName);
}
- (MTLDataType)type {
  return itsType;
}
- (NSUInteger)index {
  return itsIndex;
}
- (BOOL)required {
  return YES;
}
@end

@interface MetalloidFunction : NSObject <MTLFunction>
@end
@implementation MetalloidFunction
METALLOID_LABEL(FunctionObject)
- (id<MTLDevice>)device {
  return (id)self_as<FunctionObject>(self).device;
}
- (NSString*)name {
  return string_of(self_as<FunctionObject>(self).name);
}
- (MTLFunctionType)functionType {
  return MTLFunctionTypeKernel;
}
- (NSDictionary*)functionConstantsDictionary {
  NSMutableDictionary* all = [NSMutableDictionary dictionary];
  for (const metalloid::FunctionConstantInfo& one : self_as<FunctionObject>(self).constants()) {
    MTLFunctionConstant* constant = [[MTLFunctionConstant alloc] init];
    constant->itsName = one.name;
    constant->itsType = data_type_of(one.type);
    constant->itsIndex = one.index;
    [all setObject:constant forKey:[constant name]];
    [constant release];
  }
  return all;
}
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index {
  return new_argument_encoder(self_as<FunctionObject>(self), static_cast<unsigned>(index));
}
@end

@implementation MTLCompileOptions
@dynamic libraryType, installName, preserveInvariance, optimizationLevel, enableLogging, maxTotalThreadsPerThreadgroup;
+ (instancetype)alloc {
  return (id)make_object<CompileOptionsObject>();
}
- (id)copy {
  auto* other = make_object<CompileOptionsObject>();
  other->options = self_as<CompileOptionsObject>(self).options;
  return (id)other;
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
    definitions.emplace_back(text_of(name), metalloid::objective_c::describe([macros objectForKey:name]));
  }
}
// What changes nothing: kernels are executables, results are the same in all compiles, messages of os_log always come.
- (MTLLibraryType)libraryType {
  return MTLLibraryTypeExecutable;
}
- (void)setLibraryType:(MTLLibraryType)type {
}
- (NSString*)installName {
  return nil;
}
- (void)setInstallName:(NSString*)name {
}
- (BOOL)preserveInvariance {
  return YES;
}
- (void)setPreserveInvariance:(BOOL)preserves {
}
- (MTLLibraryOptimizationLevel)optimizationLevel {
  return MTLLibraryOptimizationLevelDefault;
}
- (void)setOptimizationLevel:(MTLLibraryOptimizationLevel)level {
}
- (BOOL)enableLogging {
  return YES;
}
- (void)setEnableLogging:(BOOL)enables {
}
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return 0;
}
- (void)setMaxTotalThreadsPerThreadgroup:(NSUInteger)count {
}
@end

@implementation MTLFunctionConstantValues {
  metalloid::FunctionConstants values;
}
- (const metalloid::FunctionConstants&)held {
  return values;
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index {
  values.set(static_cast<std::uint32_t>(index), constant_of(value, type));
}
- (void)setConstantValues:(const void*)all type:(MTLDataType)type withRange:(NSRange)range {
  const std::size_t size = layout_of(type).size();
  for (NSUInteger i = 0; i < range.length; ++i) {
    [self setConstantValue:static_cast<const std::byte*>(all) + i * size type:type atIndex:range.location + i];
  }
}
- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name {
  values.set(std::string(text_of(name)), constant_of(value, type));
}
- (void)reset {
  values = {};
}
- (id)copy {
  MTLFunctionConstantValues* other = [[MTLFunctionConstantValues alloc] init];
  other->values = values;
  return other;
}
@end

@implementation MTLFunctionDescriptor
+ (MTLFunctionDescriptor*)functionDescriptor {
  return [[[self alloc] init] autorelease];
}
- (void)dealloc {
  [_name release];
  [_specializedName release];
  [_constantValues release];
  [super dealloc];
}
- (id)copy {
  MTLFunctionDescriptor* other = [[MTLFunctionDescriptor alloc] init];
  [other setName:_name];
  [other setSpecializedName:_specializedName];
  [other setConstantValues:_constantValues];
  [other setOptions:_options];
  return other;
}
@end

@implementation MTLLinkedFunctions
+ (MTLLinkedFunctions*)linkedFunctions {
  return [[[self alloc] init] autorelease];
}
- (void)dealloc {
  [_functions release];
  [_binaryFunctions release];
  [_privateFunctions release];
  [super dealloc];
}
@end
