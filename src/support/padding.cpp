#include "support/padding.h"

#include <algorithm>

namespace metalloid::support {

bool holds(std::span<const std::byte> memory, std::uint32_t pattern) {
  const std::size_t first = std::min(memory.size(), sizeof(pattern));
  if (first == 0) return true;
  // The start is the pattern, and all else equals what lies one pattern before it.
  return std::memcmp(memory.data(), &pattern, first) == 0 &&
         std::memcmp(memory.data(), memory.data() + first, memory.size() - first) == 0;
}

void Padding::lay() const {
  for (const std::span<std::byte> side : sides_) fill_with(side, pattern_);
}

bool Padding::is_intact() const { return holds(sides_[0], pattern_) && holds(sides_[1], pattern_); }

bool Padding::check_and_mend() const {
  const bool intact = is_intact();
  if (!intact) lay();
  return intact;
}

}  // namespace metalloid::support
