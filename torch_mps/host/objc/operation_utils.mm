// What ATen/native/mps/OperationUtils.h and ATen/mps/MPSStream.h declare with types of Objective-C. The same functions
// with `void*` are in the host library; their names differ in nothing but these types.
#include <utility>

#include <ATen/mps/MPSStream.h>
#include <ATen/native/mps/OperationUtils.h>
#include <ATen/ops/scalar_tensor.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdlib>
#include <exception>
#include <string>

#include <metalloid/metal/objects.h>
#include "host/tensors.h"

using metalloid::metal::object_of;
using metalloid::metal::retain;

extern "C" {

std::pair<void*, void*> pipeline_state_of(at::native::mps::MetalShaderLibrary*, void*, const std::string&) __asm__(
    "_ZN2at6native3mps18MetalShaderLibrary23getLibraryPipelineStateEPvRKNSt7__cxx1112basic_stringIcSt11char_"
    "traitsIcESaIcEEE");
void exec_unary_kernel_raw(
    at::native::mps::MetalShaderLibrary*, std::string_view, void*, uint32_t, c10::ScalarType, void*, uint32_t,
    c10::ScalarType, uint32_t,
    std::optional<uint32_t>) __asm__("_ZN2at6native3mps18MetalShaderLibrary21exec_unary_kernel_rawESt17basic_string_"
                                     "viewIcSt11char_traitsIcEEPvjN3c1010ScalarTypeES7_jS9_jSt8optionalIjE");
void stream_copy(at::mps::MPSStream*, void*, void*, size_t, size_t, size_t, uint64_t,
                 at::mps::SyncType) __asm__("_ZN2at3mps9MPSStream4copyEPvS2_mmmmNS0_8SyncTypeE");
void stream_copy_and_sync(at::mps::MPSStream*, void*, void*, size_t, size_t, size_t, bool,
                          uint64_t) __asm__("_ZN2at3mps9MPSStream13copy_and_syncEPvS2_mmmbm");

}  // extern "C"

namespace {

// The operator that called, by the name that its library gives it; "" where it has none.
std::string caller() {
  void* frames[16];
  const int count = ::backtrace(frames, 16);
  Dl_info here = {};
  dladdr(reinterpret_cast<const void*>(&caller), &here);
  for (int i = 1; i < count; ++i) {
    Dl_info info = {};
    if (!dladdr(frames[i], &info) || info.dli_fbase == here.dli_fbase || !info.dli_sname) continue;
    int failed = 0;
    char* readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &failed);
    std::string name = failed ? "" : readable;
    std::free(readable);
    // Of helpers that headers bring into the operator's library.
    if (name.empty() || name.find("CachedGraph") != std::string::npos || name.find("GraphCache") != std::string::npos ||
        name.find("Placeholder") != std::string::npos || name.find("dispatch_") != std::string::npos) {
      continue;
    }
    return name.substr(0, name.find('(')) + " needs it: ";
  }
  return "";
}

[[noreturn]] void refuse(const char* what) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, what, " is part of Apple's MetalPerformanceShaders, which is not available here. ",
                              caller(), "Metalloid runs kernels from their Metal source");
}

}  // namespace

namespace at::mps {

void dispatch_sync_with_rethrow(dispatch_queue_t queue, void (^block)()) { dispatch_sync(queue, block); }

void MPSStream::copy(MTLBuffer_t source, MTLBuffer_t destination, size_t length, size_t source_offset,
                     size_t destination_offset, uint64_t profile, SyncType sync) {
  stream_copy(this, source, destination, length, source_offset, destination_offset, profile, sync);
}

void MPSStream::copy_and_sync(MTLBuffer_t source, MTLBuffer_t destination, size_t length, size_t source_offset,
                              size_t destination_offset, bool non_blocking, uint64_t profile) {
  stream_copy_and_sync(this, source, destination, length, source_offset, destination_offset, non_blocking, profile);
}

void MPSStream::executeMPSGraph(MPSGraph*, NSDictionary*, NSDictionary*, SyncType) { refuse("MPSGraph"); }

void MPSStream::addCompletedHandler(MTLCommandBufferHandler block) { [commandBuffer() addCompletedHandler:block]; }

}  // namespace at::mps

namespace at::native::mps {

MetalKernelFunction::MetalKernelFunction(MTLComputePipelineState_t cps_, MTLFunction_t f_)
    : cps([cps_ retain]), func([f_ retain]) {}

std::pair<MTLComputePipelineState_t, MTLFunction_t> MetalShaderLibrary::getLibraryPipelineState(
    MTLLibrary_t lib, const std::string& fname) {
  const auto [pipeline, function] = pipeline_state_of(this, lib, fname);
  return {(id)pipeline, (id)function};
}

void MetalShaderLibrary::exec_unary_kernel_raw(std::string_view name, MTLBuffer_t src_buf, uint32_t src_offs_bytes,
                                               c10::ScalarType src_dtype, MTLBuffer_t dst_buf, uint32_t dst_offs_bytes,
                                               c10::ScalarType dst_dtype, uint32_t numel,
                                               const std::optional<uint32_t> ilp_threshold) {
  ::exec_unary_kernel_raw(this, name, src_buf, src_offs_bytes, src_dtype, dst_buf, dst_offs_bytes, dst_dtype, numel,
                          ilp_threshold);
}

MPSKernelCache* MPSKernelCache::_instance_cache = nullptr;
MPSGraphCache* MPSGraphCache::_instance_cache = nullptr;
void MPSGraphCache::profileCachedGraph(const CacheEntry&) const {}

MPSDataType getMPSDataType(ScalarType type) {
  switch (type) {
    case kFloat:
      return MPSDataTypeFloat32;
    case kHalf:
      return MPSDataTypeFloat16;
    case kBFloat16:
      return MPSDataTypeBFloat16;
    case kInt:
      return MPSDataTypeInt32;
    case kLong:
      return MPSDataTypeInt64;
    case kShort:
      return MPSDataTypeInt16;
    case kChar:
      return MPSDataTypeInt8;
    case kByte:
      return MPSDataTypeUInt8;
    case kBool:
      return MPSDataTypeBool;
    case kUInt16:
      return MPSDataTypeUInt16;
    case kUInt32:
      return MPSDataTypeUInt32;
    case kUInt64:
      return MPSDataTypeUInt64;
    case kComplexHalf:
      return MPSDataTypeComplexFloat16;
    case kComplexFloat:
      return MPSDataTypeComplexFloat32;
    default:
      TORCH_CHECK_TYPE(
          type != kDouble,
          "Cannot convert a float64 Tensor to MPS as the MPS framework doesn't support float64. Please use "
          "float32 instead.");
      TORCH_CHECK_TYPE(false, "Trying to convert ", type,
                       " to the MPS backend but it does not have support for that dtype.");
  }
}
MPSDataType getMPSScalarType(ScalarType type) {
  // Numbers of double precision come as float.
  if (type == kDouble) return MPSDataTypeFloat32;
  if (type == kComplexDouble) return MPSDataTypeComplexFloat32;
  return getMPSDataType(type);
}

MPSScalar getMPSScalar(const Scalar& scalar, ScalarType type) {
  const metalloid::torch_host::Number number = metalloid::torch_host::number_of(scalar, type);
  MPSScalar result;
  result.size = number.size;
  result.type = type;
  std::memcpy(&result.value, number.bytes, number.size);
  metalloid::Buffer memory(number.size);
  memory.write(0, number.span());
  auto* buffer = metalloid::metal::make_object<metalloid::metal::BufferObject>(memory);
  result.buffer = {buffer, buffer,
                   [](void* one) { metalloid::metal::release(static_cast<metalloid::metal::Object*>(one)); },
                   kCPU};
  return result;
}

std::string getArrayRefString(const IntArrayRef values) {
  std::string text;
  for (const int64_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

std::string get_mem_format_string(c10::MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous:
      return "Contiguous";
    case MemoryFormat::ChannelsLast:
      return "ChannelsLast";
    default:
      TORCH_CHECK(false, "memory format ", format, " is none of MPS");
  }
}

std::string getTensorsStringKey(const TensorList& tensors, bool short_dtype, bool exclude_shape) {
  std::string key;
  for (const Tensor& tensor : tensors) {
    key += ":";
    if (!tensor.defined()) {
      key += "Undefined";
      continue;
    }
    key += getMPSTypeString(tensor, short_dtype) + "[";
    key += tensor.dim() == 0 ? "Scalar" : exclude_shape ? "-1" : getArrayRefString(tensor.sizes());
    key += "]";
  }
  return key;
}

MPSShape* getMPSShape(IntArrayRef sizes, c10::MemoryFormat format) {
  NSMutableArray* shape = [NSMutableArray array];
  if (format == MemoryFormat::ChannelsLast) {
    TORCH_INTERNAL_ASSERT(sizes.size() == 4, "ChannelsLast memory format must have 4 dimensions!");
    for (const int i : {0, 2, 3, 1}) [shape addObject:[NSNumber numberWithInteger:sizes[i]]];
    return shape;
  }
  for (const int64_t size : sizes) [shape addObject:[NSNumber numberWithInteger:size]];
  if (sizes.empty()) [shape addObject:[NSNumber numberWithInteger:1]];
  return shape;
}
MPSShape* getMPSShape(const TensorBase& tensor, c10::MemoryFormat format) {
  return getMPSShape(tensor.sizes(), format);
}

NSArray<NSNumber*>* getTensorAxes(const TensorBase& tensor) { return getTensorAxes(tensor.sizes(), std::nullopt); }
NSArray<NSNumber*>* getTensorAxes(const IntArrayRef& sizes, at::OptionalIntArrayRef dim) {
  NSMutableArray* axes = [NSMutableArray array];
  const auto rank = static_cast<int64_t>(sizes.size());
  if (dim.has_value() && !dim->empty()) {
    for (const int64_t one : *dim) [axes addObject:[NSNumber numberWithInteger:c10::maybe_wrap_dim(one, rank)]];
  } else {
    for (int64_t i = 0; i < rank; ++i) [axes addObject:[NSNumber numberWithInteger:i]];
  }
  return axes;
}

size_t compute_storage_numel_distance(const TensorBase& tensor) {
  size_t distance = 1;
  if (tensor.numel() == 0) return 0;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    distance += static_cast<size_t>(tensor.size(i) - 1) * static_cast<size_t>(tensor.stride(i));
  }
  return distance;
}

void resize_tensor(Tensor* output) { output->resize_(output->sizes()); }
Tensor wrapped_scalar_tensor_mps(const Scalar& scalar, const Device device) {
  // As for the CPU: of the number's own type, and weak in type promotion.
  Tensor tensor = at::scalar_tensor(scalar, at::device(device).dtype(scalar.isFloatingPoint() ? kFloat
                                                                     : scalar.isBoolean()     ? kBool
                                                                     : scalar.isComplex()     ? kComplexFloat
                                                                                              : kLong));
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

// Graphs.
bool isTooLargeForMPSGraph(const Tensor&, bool, bool) { refuse("MPSGraph"); }
void runMPSGraph(MPSStream*, MPSGraph*, NSDictionary*, NSDictionary*) { refuse("MPSGraph"); }
MPSGraph* make_mps_graph() { refuse("MPSGraph"); }
MPSNDArray* getStridedMPSNDArray(const TensorBase&, MPSNDArray*) { refuse("MPSNDArray"); }
MPSNDArray* getMPSNDArray(const TensorBase&, const IntArrayRef&, const IntArrayRef&) { refuse("MPSNDArray"); }
MPSNDArray* getMPSNDArray(const TensorBase&, MPSShape*, MPSShape*) { refuse("MPSNDArray"); }
Tensor getTensorView(const Tensor&, MPSShape*) { refuse("MPSNDArray"); }
Placeholder::Placeholder(MPSGraphTensor*, MPSNDArray*) { refuse("MPSGraphTensor"); }
Placeholder::Placeholder(MPSGraphTensor*, const Tensor&, MPSShape*, bool, MPSDataType, bool) {
  refuse("MPSGraphTensor");
}
MPSGraphTensor* convertNHWCtoNCHW(MPSGraph*, MPSGraphTensor*) { refuse("MPSGraphTensor"); }
MPSGraphTensor* castMPSTensor(MPSGraph*, MPSGraphTensor*, ScalarType) { refuse("MPSGraphTensor"); }
MPSGraphTensor* castMPSTensor(MPSGraph*, MPSGraphTensor*, MPSDataType) { refuse("MPSGraphTensor"); }
MPSGraphTensorData* getMPSGraphTensorData(MPSGraph*, MPSStream*, const TensorBase&) { refuse("MPSGraphTensorData"); }
MPSGraphTensorData* getMPSGraphTensorFromScalar(MPSStream*, MPSScalar&) { refuse("MPSGraphTensorData"); }
MPSGraphTensor* mpsGraphUnrankedPlaceHolder(MPSGraph*, MPSDataType) { refuse("MPSGraphTensor"); }
MPSGraphTensor* mpsGraphRankedPlaceHolder(MPSGraph*, MPSDataType, MPSShape*) { refuse("MPSGraphTensor"); }
MPSGraphTensor* mpsGraphRankedPlaceHolder(MPSGraph*, const TensorBase&) { refuse("MPSGraphTensor"); }
MPSGraphTensor* mpsGraphScalarPlaceHolder(MPSGraph*, MPSDataType) { refuse("MPSGraphTensor"); }
MPSGraphTensor* mpsGraphScalarPlaceHolder(MPSGraph*, const Scalar&) { refuse("MPSGraphTensor"); }

}  // namespace at::native::mps
