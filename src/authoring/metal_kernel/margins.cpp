#include "authoring/metal_kernel/margins.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "support/padding.h"

namespace metalloid::fast {

namespace {

// Larger outputs have pages of their own, and copying them would take time.
constexpr std::size_t largest_guarded_output = std::size_t{64} << 10;
constexpr std::size_t line = 64;  // bytes; keeps elements as aligned as an allocation's

std::size_t bytes_of(const Array& array) { return static_cast<std::size_t>(array.size()) * size_of(array.dtype); }

std::size_t margin_of_output(std::size_t bytes) {
  return std::clamp(2 * bytes, std::size_t{4} << 10, std::size_t{16} << 10) / line * line;
}

bool is_guarded(const Array& array) { return array.size() != 0 && bytes_of(array) <= largest_guarded_output; }

// The same array with that many bytes of a buffer of its own, between margins of zeros.
Array between_margins(Array array, std::size_t bytes, std::size_t margin, std::size_t offset) {
  array.buffer = Buffer(bytes + 2 * margin);
  array.offset = margin + offset;
  return array;
}

}  // namespace

Array with_margins(const Array& input) {
  constexpr std::size_t page = 4096, least = 16 * page, most = std::size_t{64} << 20;
  if (input.size() == 0) return input;
  const std::size_t bytes = input.buffer.size();
  const std::size_t margin = (std::clamp(bytes, least, most) + page - 1) / page * page;
  Array result = between_margins(input, bytes, margin, input.offset);
  std::memcpy(static_cast<std::byte*>(result.buffer.contents()) + margin, input.buffer.contents(), bytes);
  return result;
}

GuardedOutputs::GuardedOutputs(const std::vector<Array>& outputs) : outputs_(outputs), guarded_(outputs) {
  for (Array& array : guarded_) {
    if (!is_guarded(array)) continue;
    const std::size_t bytes = bytes_of(array);
    array = between_margins(array, bytes, margin_of_output(bytes), 0);
  }
}

bool GuardedOutputs::finish() {
  bool is_clean = true;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!is_guarded(outputs_[i])) continue;
    const std::size_t bytes = bytes_of(outputs_[i]), margin = margin_of_output(bytes);
    const std::span<std::byte> written(guarded_[i].data(), bytes);
    is_clean = is_clean && support::Padding(written, margin, margin, 0).is_intact();
    std::memcpy(outputs_[i].data(), written.data(), bytes);
  }
  return is_clean;
}

}  // namespace metalloid::fast
