// A known pattern in memory: in what nobody has written yet it shows reads.
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

}  // namespace metalloid::support
