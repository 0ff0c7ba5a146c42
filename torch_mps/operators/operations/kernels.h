// What the hosts of matrix, convolution, pooling and resampling kernels share.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>

namespace at {
struct TensorIteratorBase;
}

namespace metalloid::operators {

// Metal's name of an element type, as it ends the names of kernels.
inline const char* metal_type(at::ScalarType type, const char* function) {
  switch (type) {
    case at::kFloat: return "float";
    case at::kHalf: return "half";
    case at::kBFloat16: return "bfloat";
    case at::kComplexFloat: return "float2";
    case at::kComplexHalf: return "half2";
    case at::kLong: return "long";
    case at::kInt: return "int";
    case at::kShort: return "short";
    case at::kChar: return "char";
    case at::kByte: return "uchar";
    case at::kBool: return "bool";
    default: TORCH_CHECK_NOT_IMPLEMENTED(false, "\"", function, "\" not implemented for '", c10::toString(type), "'");
  }
}

using Extent = std::array<std::uint64_t, 3>;

// Metal binds no empty buffer: a kernel that reads no element of a tensor gets the result in its place.
inline const at::Tensor& bound(const at::Tensor& result, const at::Tensor& tensor) {
  return tensor.numel() == 0 ? result : tensor;
}
template <typename Parameters>
const Parameters& bound(const at::Tensor&, const Parameters& parameters) {
  return parameters;
}

// Arguments are buffers 0, 1, …
template <typename... Arguments>
void run(at::native::mps::MetalShaderLibrary& library, const std::string& kernel, const Extent& threads,
         const Extent& group, const at::Tensor& result, const Arguments&... arguments) {
  if (threads[0] == 0 || threads[1] == 0 || threads[2] == 0) return;
  auto* function = library.getCachedKernelFunctionPtr(kernel);
  const auto encode = [&] {
    function->startEncoding();
    function->setArg(0, result);
    unsigned index = 1;
    (function->setArg(index++, bound(result, arguments)), ...);
    function->dispatch(c10::ArrayRef<std::uint64_t>(threads), c10::OptionalArrayRef<std::uint64_t>(group));
  };
  function->runCommandBlock(std::ref(encode));  // a reference: std::function allocates for what it holds
}

// Copies operand 1 of an iterator to operand 0, if both have one type and it is a matter of rows that lie side by side
// or are turned (Copy.cpp); else it does nothing and gives false.
bool move(at::TensorIteratorBase& iter);

// A threadgroup of at most 256 threads that fits a grid.
inline Extent group_for(const Extent& threads) {
  const auto x = std::min<std::uint64_t>(threads[0], 32);
  const auto y = std::min<std::uint64_t>(threads[1], 256 / x);
  return {x, y, std::min<std::uint64_t>(threads[2], 256 / (x * y))};
}

// A tensor (N, C, space…) or (C, space…) with one to three dimensions of space, as (N, C, D, H, W).
inline at::Tensor as_volume(at::Tensor tensor, std::int64_t space) {
  if (tensor.dim() == space + 1) tensor = tensor.unsqueeze(0);
  while (tensor.dim() < 5) tensor = tensor.unsqueeze(2);
  return tensor;
}

// Settings of one to three dimensions of space for D, H, W. One number stands for all dimensions.
inline std::array<int, 3> for_volume(at::IntArrayRef values, std::int64_t space, int otherwise) {
  std::array<int, 3> all = {otherwise, otherwise, otherwise};
  for (std::int64_t i = 0; i < space; ++i) {
    all[3 - space + i] = static_cast<int>(values.size() == 1 ? values[0] : values[i]);
  }
  return all;
}

}  // namespace metalloid::operators
