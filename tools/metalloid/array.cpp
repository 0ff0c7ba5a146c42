// Element access, conversion and printing of arrays.
#include "array.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "support/bfloat16.h"

namespace metalloid::tool {
namespace {

// What Metal has.
bool is_kind(ElementType kind) { return kind != ElementType::none && kind <= ElementType::float32; }

template <typename T>
T load(const Array& array, std::size_t index) {
  T value;
  std::memcpy(&value, array.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store(Array& array, std::size_t index, T value) {
  std::memcpy(array.bytes.data() + index * sizeof(T), &value, sizeof(T));
}

// Calls `use` with a value of the C++ type that holds one element of an integer kind.
template <typename Use>
auto with_integer_type(ElementType kind, Use use) {
  switch (kind) {
    case ElementType::int8: return use(std::int8_t{});
    case ElementType::int16: return use(std::int16_t{});
    case ElementType::uint16: return use(std::uint16_t{});
    case ElementType::int32: return use(std::int32_t{});
    case ElementType::uint32: return use(std::uint32_t{});
    case ElementType::int64: return use(std::int64_t{});
    case ElementType::uint64: return use(std::uint64_t{});
    default: return use(std::uint8_t{});  // boolean, uint8
  }
}

std::string format_element(const Array& array, std::size_t index) {
  switch (array.kind) {
    case ElementType::boolean: return load<std::uint8_t>(array, index) != 0 ? "True" : "False";
    case ElementType::float32: return fmt::format("{}", load<float>(array, index));
    case ElementType::float16:
    case ElementType::bfloat16: return fmt::format("{:.4g}", element_as_double(array, index));
    case ElementType::uint64: return fmt::format("{}", load<std::uint64_t>(array, index));
    default: return fmt::format("{}", element_as_integer(array, index));
  }
}

}  // namespace

std::size_t Array::element_count() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

std::size_t largest_array() {
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 2;
}

Array make_array(ElementType kind, std::vector<std::size_t> shape) {
  Array array{kind, std::move(shape), {}};
  array.bytes.resize(array.element_count() * size_of(kind));
  return array;
}

std::optional<ElementType> parse_kind(std::string_view name) {
  const ElementType kind = find_element_type([&](const ElementTypeInfo& info) { return info.name == name; });
  return is_kind(kind) ? std::optional(kind) : std::nullopt;
}

std::string kind_names() {
  std::string names;
  for (std::size_t i = 0; i < element_types.size(); ++i) {
    if (!is_kind(static_cast<ElementType>(i))) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", element_types[i].name);
  }
  return names;
}

double element_as_double(const Array& array, std::size_t index) {
  switch (array.kind) {
    case ElementType::float32: return load<float>(array, index);
    case ElementType::float16: return static_cast<double>(load<_Float16>(array, index));
    case ElementType::bfloat16: return support::bfloat16_to_float(load<std::uint16_t>(array, index));
    default:
      return with_integer_type(array.kind,
                               [&](auto zero) { return static_cast<double>(load<decltype(zero)>(array, index)); });
  }
}

std::int64_t element_as_integer(const Array& array, std::size_t index) {
  return with_integer_type(array.kind,
                           [&](auto zero) { return static_cast<std::int64_t>(load<decltype(zero)>(array, index)); });
}

void set_element(Array& array, std::size_t index, double value) {
  switch (array.kind) {
    case ElementType::float32: return store(array, index, static_cast<float>(value));
    case ElementType::float16: return store(array, index, static_cast<_Float16>(value));
    case ElementType::bfloat16: return store(array, index, support::double_to_bfloat16(value));
    case ElementType::boolean: return store(array, index, static_cast<std::uint8_t>(value != 0));
    case ElementType::uint64:
      return store(
          array, index,
          value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) : static_cast<std::uint64_t>(value));
    default: return set_element(array, index, static_cast<std::int64_t>(value));
  }
}

void set_element(Array& array, std::size_t index, std::int64_t value) {
  if (is_floating(array.kind)) return set_element(array, index, static_cast<double>(value));
  if (array.kind == ElementType::boolean) return store(array, index, static_cast<std::uint8_t>(value != 0));
  with_integer_type(array.kind, [&](auto zero) { store(array, index, static_cast<decltype(zero)>(value)); });
}

std::string format_array(const Array& array, std::size_t edge, std::size_t threshold) {
  if (array.element_count() == 0) return "[]";  // as NumPy, whatever the other extents
  const bool summarise = array.element_count() > threshold;
  std::vector<std::size_t> strides(array.shape.size() + 1, 1);
  for (std::size_t i = array.shape.size(); i-- > 0;) strides[i] = strides[i + 1] * array.shape[i];

  // First pass: the indices that are shown, for a common column width.
  std::size_t width = 0;
  std::string text;
  auto visit = [&](auto& self, std::size_t dimension, std::size_t offset, bool measure) -> void {
    if (dimension == array.shape.size()) {
      std::string element = format_element(array, offset);
      if (measure) {
        width = std::max(width, element.size());
      } else {
        text += fmt::format("{:>{}}", element, width);
      }
      return;
    }
    const std::size_t length = array.shape[dimension];
    const bool innermost = dimension + 1 == array.shape.size();
    const bool shorten = summarise && length > 2 * edge;
    const std::string separator =
        innermost ? " " : std::string(array.shape.size() - 1 - dimension, '\n') + std::string(dimension + 1, ' ');
    if (!measure) text += '[';
    std::size_t column = 0;
    for (std::size_t i = 0; i < length; ++i) {
      if (i > 0 && !measure) {
        // Rows that are long wrap as NumPy's do.
        column += width + 1;
        if (innermost && column + width > 100) {
          text += "\n" + std::string(dimension + 1, ' ');
          column = 0;
        } else {
          text += separator;
        }
      }
      if (shorten && i == edge) {
        if (!measure) text += "...";
        i = length - edge - 1;
        continue;
      }
      self(self, dimension + 1, offset + i * strides[dimension + 1], measure);
    }
    if (!measure) text += ']';
  };
  visit(visit, 0, 0, true);
  visit(visit, 0, 0, false);
  return text;
}

}  // namespace metalloid::tool
