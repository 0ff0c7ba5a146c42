#include "authoring/metal_kernel/margins.h"

#include <algorithm>
#include <cstring>

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

bool is_zero(const std::byte* memory, std::size_t bytes) {
  return bytes == 0 || (memory[0] == std::byte{0} && std::memcmp(memory, memory + 1, bytes - 1) == 0);
}

}  // namespace

Array with_margins(const Array& input) {
  constexpr std::size_t page = 4096, least = 16 * page, most = std::size_t{64} << 20;
  if (input.size() == 0) return input;
  const std::size_t bytes = input.buffer.size();
  const std::size_t margin = (std::clamp(bytes, least, most) + page - 1) / page * page;
  Array result = input;
  result.buffer = Buffer(bytes + 2 * margin);
  result.offset += margin;
  std::memcpy(static_cast<std::byte*>(result.buffer.contents()) + margin, input.buffer.contents(), bytes);
  return result;
}

GuardedOutputs::GuardedOutputs(const std::vector<Array>& outputs) : outputs_(outputs), guarded_(outputs) {
  for (Array& array : guarded_) {
    if (!is_guarded(array)) continue;
    const std::size_t bytes = bytes_of(array), margin = margin_of_output(bytes);
    array.buffer = Buffer(bytes + 2 * margin);
    array.offset = margin;
  }
}

bool GuardedOutputs::finish() {
  bool is_clean = true;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!is_guarded(outputs_[i])) continue;
    const std::size_t bytes = bytes_of(outputs_[i]), margin = margin_of_output(bytes);
    const auto* memory = static_cast<const std::byte*>(guarded_[i].buffer.contents());
    is_clean = is_clean && is_zero(memory, margin) && is_zero(memory + margin + bytes, margin);
    std::memcpy(outputs_[i].data(), memory + margin, bytes);
  }
  return is_clean;
}

}  // namespace metalloid::fast
