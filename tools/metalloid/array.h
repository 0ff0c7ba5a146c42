// Arrays as the command line handles them: an element kind, a shape and the bytes a kernel sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metalloid/reflection.h"

namespace metalloid::tool {

struct Array {
  ElementType kind = ElementType::float32;
  std::vector<std::size_t> shape;  // empty: a scalar
  std::vector<std::byte> bytes;    // C order

  std::size_t element_count() const;
};

// NumPy's limit.
inline constexpr std::size_t largest_rank = 64;
// Bytes. An array beside its copy that the kernel works on must fit into memory, or the system ends whole processes.
std::size_t largest_array();

// A zeroed array.
Array make_array(ElementType kind, std::vector<std::size_t> shape);

// "f32" -> float32; nothing for a name that is no element kind.
std::optional<ElementType> parse_kind(std::string_view name);
// "bool, i8, u8, ...", for messages.
std::string kind_names();

// One element as the nearest double, and back with one rounding. Integers out of range wrap.
double element_as_double(const Array& array, std::size_t index);
std::int64_t element_as_integer(const Array& array, std::size_t index);  // integers and bool only
void set_element(Array& array, std::size_t index, double value);
void set_element(Array& array, std::size_t index, std::int64_t value);

// Text in NumPy's manner: at most `edge` items at each end of a long dimension.
std::string format_array(const Array& array, std::size_t edge = 3, std::size_t threshold = 1000);

}  // namespace metalloid::tool
