// The types of single elements: of arguments, arrays and function constants. All that is to say of one stands in one
// table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace metalloid {

enum class ElementType : std::uint8_t {
  none,  // a struct, or a type without elements of its own (void)
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,  // of arrays: Metal has no such type
  complex64,
};

struct ElementTypeInfo {
  enum class Kind : std::uint8_t { none, boolean, signed_integer, unsigned_integer, floating, complex };
  Kind kind;
  std::uint8_t size;              // bytes
  std::string_view name;          // ours: "f32"
  std::string_view library_name;  // NumPy's, PyTorch's and MLX's: "float32"
  std::string_view metal_name;    // "float"
  std::string_view sized_name;    // Metal's too, as MLX writes it: "float16_t"
  std::string_view npy_name;      // in .npy files: "f4"
};

// By value.
inline constexpr std::array<ElementTypeInfo, 15> element_types = {{
    {ElementTypeInfo::Kind::none, 0, "struct", "void", "void", "void", "V"},
    {ElementTypeInfo::Kind::boolean, 1, "bool", "bool", "bool", "bool", "b1"},
    {ElementTypeInfo::Kind::signed_integer, 1, "i8", "int8", "char", "int8_t", "i1"},
    {ElementTypeInfo::Kind::unsigned_integer, 1, "u8", "uint8", "uchar", "uint8_t", "u1"},
    {ElementTypeInfo::Kind::signed_integer, 2, "i16", "int16", "short", "int16_t", "i2"},
    {ElementTypeInfo::Kind::unsigned_integer, 2, "u16", "uint16", "ushort", "uint16_t", "u2"},
    {ElementTypeInfo::Kind::signed_integer, 4, "i32", "int32", "int", "int32_t", "i4"},
    {ElementTypeInfo::Kind::unsigned_integer, 4, "u32", "uint32", "uint", "uint32_t", "u4"},
    {ElementTypeInfo::Kind::signed_integer, 8, "i64", "int64", "long", "int64_t", "i8"},
    {ElementTypeInfo::Kind::unsigned_integer, 8, "u64", "uint64", "ulong", "uint64_t", "u8"},
    {ElementTypeInfo::Kind::floating, 2, "f16", "float16", "half", "float16_t", "f2"},
    {ElementTypeInfo::Kind::floating, 2, "bf16", "bfloat16", "bfloat", "bfloat16_t", "u2"},  // as NumPy users keep it
    {ElementTypeInfo::Kind::floating, 4, "f32", "float32", "float", "float", "f4"},
    {ElementTypeInfo::Kind::floating, 8, "f64", "float64", "double", "double", "f8"},
    {ElementTypeInfo::Kind::complex, 8, "c64", "complex64", "complex64_t", "complex64_t", "c8"},
}};
inline constexpr ElementType last_element_type = ElementType::complex64;

constexpr const ElementTypeInfo& info_of(ElementType type) { return element_types[static_cast<std::size_t>(type)]; }

// Bytes; 0 for ElementType::none.
constexpr std::uint32_t size_of(ElementType type) { return info_of(type).size; }
// "bool", "i8", ..., "bf16", "f32"; "struct" for none.
constexpr std::string_view name_of(ElementType type) { return info_of(type).name; }
constexpr bool is_floating(ElementType type) { return info_of(type).kind == ElementTypeInfo::Kind::floating; }
constexpr bool is_signed_integer(ElementType type) {
  return info_of(type).kind == ElementTypeInfo::Kind::signed_integer;
}

// The first type of which `is` is true; none if there is none.
template <typename Is>
constexpr ElementType find_element_type(Is is) {
  for (std::size_t i = 1; i < element_types.size(); ++i) {
    if (is(element_types[i])) return static_cast<ElementType>(i);
  }
  return ElementType::none;
}
constexpr ElementType integer_type(std::size_t bytes, bool is_signed) {
  const auto kind = is_signed ? ElementTypeInfo::Kind::signed_integer : ElementTypeInfo::Kind::unsigned_integer;
  return find_element_type([&](const ElementTypeInfo& info) { return info.kind == kind && info.size == bytes; });
}

}  // namespace metalloid
