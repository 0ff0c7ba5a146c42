#include "metal/metal/data_types.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "metalloid/metal/host.h"

namespace metalloid::metal {
namespace {

// The first of each kind; vectors of two to four follow it, then matrices (columns by rows).
struct Family {
  MTLDataType first;
  ElementType scalar;
  bool has_matrices;
};
constexpr std::array families = {
    Family{MTLDataTypeFloat, ElementType::float32, true},  Family{MTLDataTypeHalf, ElementType::float16, true},
    Family{MTLDataTypeInt, ElementType::int32, false},     Family{MTLDataTypeUInt, ElementType::uint32, false},
    Family{MTLDataTypeShort, ElementType::int16, false},   Family{MTLDataTypeUShort, ElementType::uint16, false},
    Family{MTLDataTypeChar, ElementType::int8, false},     Family{MTLDataTypeUChar, ElementType::uint8, false},
    Family{MTLDataTypeBool, ElementType::boolean, false},  Family{MTLDataTypeLong, ElementType::int64, false},
    Family{MTLDataTypeULong, ElementType::uint64, false},  Family{MTLDataTypeBFloat, ElementType::bfloat16, false},
};

template <typename T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

double real(const std::byte* from, ElementType type) {
  if (type == ElementType::float32) return read<float>(from);
  if (type == ElementType::float16) return static_cast<double>(read<_Float16>(from));
  const std::uint32_t bits = std::uint32_t{read<std::uint16_t>(from)} << 16;  // bfloat
  return std::bit_cast<float>(bits);
}

std::int64_t integer(const std::byte* from, ElementType type) {
  switch (type) {
    case ElementType::boolean: return read<std::uint8_t>(from) != 0;
    case ElementType::int8: return read<std::int8_t>(from);
    case ElementType::uint8: return read<std::uint8_t>(from);
    case ElementType::int16: return read<std::int16_t>(from);
    case ElementType::uint16: return read<std::uint16_t>(from);
    case ElementType::int32: return read<std::int32_t>(from);
    case ElementType::uint32: return read<std::uint32_t>(from);
    default: return read<std::int64_t>(from);
  }
}

bool is_real(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float16 || type == ElementType::bfloat16;
}

}  // namespace

std::size_t Layout::size() const { return size_of(scalar) * (rows == 3 ? 4 : rows) * columns; }

Layout layout_of(MTLDataType type) {
  for (const Family& family : families) {
    const NSUInteger place = type - family.first;
    if (place < 4) return {family.scalar, static_cast<unsigned>(place) + 1, 1};
    if (family.has_matrices && place < 13) {
      return {family.scalar, static_cast<unsigned>((place - 4) % 3) + 2, static_cast<unsigned>((place - 4) / 3) + 2};
    }
  }
  return {};
}

MTLDataType data_type_of(const TypeInfo& type) {
  if (type.is_pointer) return MTLDataTypePointer;
  if (!type.members.empty()) return MTLDataTypeStruct;
  if (type.array_length != 0) return MTLDataTypeArray;
  for (const Family& family : families) {
    if (family.scalar != type.scalar) continue;
    if (type.columns == 1) return static_cast<MTLDataType>(family.first + type.rows - 1);
    if (family.has_matrices) return static_cast<MTLDataType>(family.first + 4 + (type.columns - 2) * 3 + type.rows - 2);
  }
  return MTLDataTypeNone;
}

FunctionConstants::Value constant_of(const void* value, MTLDataType type) {
  const Layout layout = layout_of(type);
  if (layout.scalar == ElementType::none || layout.columns != 1) {
    fail(Fault::not_implemented, fmt::format("function constants of MTLDataType {}", static_cast<unsigned long>(type)));
  }
  const auto* first = static_cast<const std::byte*>(value);
  const std::size_t size = size_of(layout.scalar);
  if (layout.rows == 1) {
    if (layout.scalar == ElementType::boolean) return integer(first, layout.scalar) != 0;
    if (layout.scalar == ElementType::uint64) return read<std::uint64_t>(first);
    if (is_real(layout.scalar)) return real(first, layout.scalar);
    return integer(first, layout.scalar);
  }
  if (is_real(layout.scalar)) {
    std::vector<double> all;
    for (unsigned i = 0; i < layout.rows; ++i) all.push_back(real(first + i * size, layout.scalar));
    return all;
  }
  std::vector<std::int64_t> all;
  for (unsigned i = 0; i < layout.rows; ++i) all.push_back(integer(first + i * size, layout.scalar));
  return all;
}

}  // namespace metalloid::metal
