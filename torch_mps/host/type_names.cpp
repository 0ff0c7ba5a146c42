#include "type_names.h"

#include <c10/util/Exception.h>

namespace at::native::mps {
namespace {

struct Names {
  const char *metal, *graph, *graph_short;
};

Names names_of(c10::ScalarType type) {
  using enum c10::ScalarType;
  switch (type) {
    case Float: return {"float", "Float32", "f32"};
    case Half: return {"half", "Float16", "f16"};
    case BFloat16: return {"bfloat", "BFloat16", "bf16"};
    case Int: return {"int", "Int32", "i32"};
    case Long: return {"long", "Int64", "i64"};
    case Short: return {"short", "Int16", "i16"};
    case Char: return {"char", "Int8", "i8"};
    case Byte: return {"uchar", "UInt8", "u8"};
    case Bool: return {"bool", "Bool", "b8"};
    case UInt16: return {"ushort", "UInt16", "u16"};
    case UInt32: return {"uint", "UInt32", "u32"};
    case UInt64: return {"ulong", "UInt64", "u64"};
    case ComplexHalf: return {"half2", "ComplexFloat16", "c16"};
    case ComplexFloat: return {"float2", "ComplexFloat32", "c32"};
    default: return {nullptr, nullptr, nullptr};
  }
}

}  // namespace

std::string_view metal_name(c10::ScalarType scalar_type) {
  const Names names = names_of(scalar_type);
  TORCH_CHECK_TYPE(scalar_type != c10::ScalarType::Double,
                   "Cannot convert a float64 Tensor to MPS as the MPS framework doesn't support float64. Please use "
                   "float32 instead.");
  TORCH_CHECK_TYPE(names.metal, "Undefined type ", scalar_type);
  return names.metal;
}

std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type) { return std::string(metal_name(scalar_type)); }

std::string getMPSTypeString(c10::ScalarType scalar_type, bool short_name) {
  if (scalar_type == c10::ScalarType::Double) return short_name ? "f64" : "Float64";
  if (scalar_type == c10::ScalarType::Undefined) return short_name ? "undefined" : "Undefined";
  const Names names = names_of(scalar_type);
  return names.graph ? (short_name ? names.graph_short : names.graph) : (short_name ? "undefined" : "Undefined");
}

std::string kernel_name(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size() + 1;
  std::string name;
  name.reserve(size);
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    if (!name.empty()) name += '_';
    name += part;
  }
  return name;
}

}  // namespace at::native::mps
