// A known pattern in memory: around what a kernel writes to it shows stray writes, and in what nobody has written yet
// it shows reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <span>

namespace metalloid::support {

// Repeats the pattern's bytes; the last time as many as there is room for.
inline void fill_with(std::span<std::byte> memory, std::uint32_t pattern) {
  static_assert(sizeof(wchar_t) == sizeof(pattern));
  const std::size_t whole = memory.size() / sizeof(pattern);
  std::wmemset(reinterpret_cast<wchar_t*>(memory.data()), static_cast<wchar_t>(pattern), whole);
  const std::size_t at = whole * sizeof(pattern);
  if (at != memory.size()) std::memcpy(memory.data() + at, &pattern, memory.size() - at);
}

bool holds(std::span<const std::byte> memory, std::uint32_t pattern);

// The memory just before and just behind a block, which belongs to somebody else.
class Padding {
 public:
  Padding() = default;
  Padding(std::span<std::byte> block, std::size_t before, std::size_t after, std::uint32_t pattern)
      : sides_{std::span(block.data() - before, before), std::span(block.data() + block.size(), after)},
        pattern_(pattern) {}

  void lay() const;
  // Whether both sides hold the pattern.
  bool is_intact() const;
  // The same; afterwards they do in any case.
  bool check_and_mend() const;

 private:
  std::span<std::byte> sides_[2];
  std::uint32_t pattern_ = 0;
};

}  // namespace metalloid::support
