// What a host must know of metal::tensor to bind one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <clang/AST/Type.h>

namespace metalloid::frontend {

struct TensorType {
  clang::QualType element;            // with its address space
  std::vector<std::int64_t> extents;  // dimension 0 first; -1: dynamic
  bool is_handle = false;             // bound by the host, as opposed to made in a kernel
};

// Nothing if the type is no metal::tensor.
std::optional<TensorType> tensor_type(clang::QualType type);

}  // namespace metalloid::frontend
