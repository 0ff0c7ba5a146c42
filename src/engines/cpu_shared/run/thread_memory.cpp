#include "engines/cpu_shared/run/thread_memory.h"

namespace metalloid::engines::cpu {

void ThreadMemory::reserve(std::uint32_t count, std::size_t bytes) {
  // Kept from kernel to kernel, but not what a single large one once needed.
  constexpr std::size_t most_surplus = std::size_t{64} << 20;
  // An odd number of units, or the first-level cache would keep the same few lines for the starts of all pieces.
  constexpr std::size_t unit = 128;
  stride_ = bytes == 0 ? 0 : ((bytes + unit - 1) / unit | 1) * unit;
  const std::size_t wanted = stride_ * count;
  if (wanted <= mapping_.size() && mapping_.size() - wanted <= most_surplus) return;
  mapping_.release();
  if (wanted != 0) mapping_.map(wanted);
}

}  // namespace metalloid::engines::cpu
