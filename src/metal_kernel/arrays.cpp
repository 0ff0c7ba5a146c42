// Arrays of metal_kernel: element types, contiguity, copies, fills.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "metal_kernel/source.h"
#include "metalloid/fast.h"
#include "support/bfloat16.h"

namespace metalloid::fast {

namespace {

template <typename T>
T to_integer(double value) {
  if (std::isnan(value)) return 0;
  if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

template <typename T>
void fill_with(const Array& array, T value) {
  std::fill_n(reinterpret_cast<T*>(array.data()), array.size(), value);
}

// Copies the elements at positions [dimension:] row by row and returns where the next ones go.
template <typename T>
T* gather(const T* from, T* to, const Array& array, std::size_t dimension) {
  if (dimension == array.shape.size()) {
    *to = *from;
    return to + 1;
  }
  const std::int64_t stride = array.strides[dimension];
  if (dimension + 1 == array.shape.size()) {
    for (std::int32_t i = 0; i < array.shape[dimension]; ++i) *to++ = from[i * stride];
    return to;
  }
  for (std::int32_t i = 0; i < array.shape[dimension]; ++i) to = gather(from + i * stride, to, array, dimension + 1);
  return to;
}

// Bytes and sums of strides stay well below 2^63.
constexpr std::int64_t most_elements = std::int64_t{1} << 50;

// Negative extents, and more elements than a buffer can have bytes.
void check_extents(const Shape& shape) {
  if (std::ranges::any_of(shape, [](std::int32_t extent) { return extent < 0; })) {
    throw Error(ErrorCode::invalid_argument, "[metal_kernel] Negative dimensions not allowed.");
  }
  std::int64_t elements = 1;
  for (std::int32_t extent : shape) {
    // An extent of 0 makes the array empty, whatever the others are; strides are products of the others.
    if (__builtin_mul_overflow(elements, std::max(extent, 1), &elements) || elements > most_elements) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("[metal_kernel] An array of shape ({}) has too many elements.", fmt::join(shape, ", ")));
    }
  }
}

// Beside the extents: a dimension without a stride, and elements further apart than memory is large.
void check_shape(const Shape& shape, const Strides& strides) {
  check_extents(shape);
  if (shape.size() != strides.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("[metal_kernel] An array has {} dimensions and {} strides.", shape.size(), strides.size()));
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(std::max(shape[d], 1), strides[d], &reach) || std::abs(reach) > most_elements) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("[metal_kernel] An array of shape ({}) and strides ({}) reaches beyond all memory.",
                              fmt::join(shape, ", "), fmt::join(strides, ", ")));
    }
  }
}

// The elements at the lowest and the highest address, counted from the one at (0, 0, ...).
std::pair<std::int64_t, std::int64_t> reach_of(const Shape& shape, const Strides& strides) {
  std::int64_t lowest = 0, highest = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t reach = (shape[d] - 1) * strides[d];
    (reach < 0 ? lowest : highest) += reach;
  }
  return {lowest, highest};
}

}  // namespace

void check_memory(const Array& array, std::string_view name) {
  check_shape(array.shape, array.strides);
  if (array.size() == 0) return;
  const auto item = static_cast<std::int64_t>(size_of(array.dtype));
  const auto offset = static_cast<std::int64_t>(array.offset), size = static_cast<std::int64_t>(array.buffer.size());
  const auto [lowest, highest] = reach_of(array.shape, array.strides);
  if (offset + lowest * item < 0 || offset + (highest + 1) * item > size) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("[metal_kernel] `{}` reaches from byte {} to {} of a buffer of {} bytes.", name,
                            offset + lowest * item, offset + (highest + 1) * item, size));
  }
}

std::string_view metal_name(Dtype dtype) { return info_of(dtype).sized_name; }

std::int64_t Array::size() const {
  std::int64_t result = 1;
  for (std::int32_t extent : shape) result *= extent;
  return result;
}

bool Array::row_contiguous() const {
  if (size() == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

Array Array::wrap(void* memory, Shape shape, Dtype dtype, std::shared_ptr<void> owner) {
  check_extents(shape);
  Array result{Buffer::wrap(memory, 0), 0, std::move(shape), {}, dtype};
  result.strides.resize(result.shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = result.shape.size(); d-- > 0;) {
    result.strides[d] = stride;
    stride *= result.shape[d];
  }
  check_shape(result.shape, result.strides);
  result.buffer = Buffer::wrap(memory, static_cast<std::size_t>(result.size()) * size_of(dtype), std::move(owner));
  return result;
}

Array Array::wrap(void* first, Shape shape, Strides strides, Dtype dtype) {
  check_shape(shape, strides);
  const auto item = static_cast<std::int64_t>(size_of(dtype));
  const auto [lowest, highest] = reach_of(shape, strides);
  Array result{Buffer::wrap(nullptr, 0), 0, std::move(shape), std::move(strides), dtype};
  const bool is_empty = result.size() == 0;
  result.offset = is_empty ? 0 : static_cast<std::size_t>(-lowest * item);
  result.buffer = Buffer::wrap(static_cast<std::byte*>(first) - result.offset,
                               is_empty ? 0 : static_cast<std::size_t>((highest - lowest + 1) * item));
  return result;
}

Array Array::zeros(Shape shape, Dtype dtype) {
  Array result = wrap(nullptr, std::move(shape), dtype);
  result.buffer = Buffer(static_cast<std::size_t>(result.size()) * size_of(dtype));
  return result;
}

Array Array::scalar_of(double value, Dtype dtype) {
  Array result = zeros({}, dtype);
  fill(result, value);
  return result;
}

Array Array::scalar_of(std::uint64_t value, Dtype dtype) {
  return scalar_of(std::as_bytes(std::span<const std::uint64_t, 1>(&value, 1)), dtype);
}

Array Array::scalar_of(std::span<const std::byte> bytes, Dtype dtype) {
  if (bytes.size() != size_of(dtype)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("[metal_kernel] {} bytes are no element of type {}.", bytes.size(), metal_name(dtype)));
  }
  Array result = zeros({}, dtype);
  std::ranges::copy(bytes, result.data());
  return result;
}

Array copy(const Array& array) {
  Array result = Array::zeros(array.shape, array.dtype);
  if (result.size() == 0) return result;
  auto gather_as = [&]<typename T>(T) {
    gather(reinterpret_cast<const T*>(array.data()), reinterpret_cast<T*>(result.data()), array, 0);
  };
  switch (size_of(array.dtype)) {
    case 1: gather_as(std::uint8_t{}); break;
    case 2: gather_as(std::uint16_t{}); break;
    case 4: gather_as(std::uint32_t{}); break;
    default: gather_as(std::uint64_t{});
  }
  return result;
}

void fill(const Array& array, double value) {
  switch (array.dtype) {
    case Dtype::none: return;
    case Dtype::boolean: return fill_with<bool>(array, value != 0);
    case Dtype::uint8: return fill_with(array, to_integer<std::uint8_t>(value));
    case Dtype::uint16: return fill_with(array, to_integer<std::uint16_t>(value));
    case Dtype::uint32: return fill_with(array, to_integer<std::uint32_t>(value));
    case Dtype::uint64: return fill_with(array, to_integer<std::uint64_t>(value));
    case Dtype::int8: return fill_with(array, to_integer<std::int8_t>(value));
    case Dtype::int16: return fill_with(array, to_integer<std::int16_t>(value));
    case Dtype::int32: return fill_with(array, to_integer<std::int32_t>(value));
    case Dtype::int64: return fill_with(array, to_integer<std::int64_t>(value));
    case Dtype::float16: return fill_with(array, static_cast<_Float16>(value));
    case Dtype::bfloat16: return fill_with(array, support::double_to_bfloat16(value));
    case Dtype::float32: return fill_with(array, static_cast<float>(value));
    case Dtype::float64: return fill_with(array, value);
    case Dtype::complex64:
      return fill_with(array, std::bit_cast<std::uint64_t>(std::array<float, 2>{static_cast<float>(value), 0}));
  }
}

}  // namespace metalloid::fast
