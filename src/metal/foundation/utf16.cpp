#include "metal/foundation/utf16.h"

#include <algorithm>

namespace metalloid::objective_c {
namespace {

std::size_t bytes_of(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

std::size_t utf16_length(std::string_view utf8) {
  std::size_t units = 0;
  for (const char one : utf8) {
    const auto byte = static_cast<unsigned char>(one);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

std::size_t utf8_offset(std::string_view utf8, std::size_t unit) {
  std::size_t at = 0;
  for (std::size_t units = 0; units < unit && at < utf8.size();) {
    const std::size_t bytes = bytes_of(utf8[at]);
    units += bytes == 4 ? 2 : 1;
    at += bytes;
  }
  return std::min(at, utf8.size());
}

std::uint16_t utf16_unit(std::string_view utf8, std::size_t unit) {
  std::size_t at = 0, units = 0;
  while (at < utf8.size()) {
    const std::size_t bytes = std::min(bytes_of(utf8[at]), utf8.size() - at), width = bytes == 4 ? 2 : 1;
    if (units + width > unit) {
      std::uint32_t code = static_cast<unsigned char>(utf8[at]) & (bytes == 1 ? 0x7f : 0xff >> (bytes + 1));
      for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(utf8[at + i]) & 0x3f);
      if (width == 1) return static_cast<std::uint16_t>(code);
      return static_cast<std::uint16_t>(unit == units ? 0xd7c0 + (code >> 10) : 0xdc00 | (code & 0x3ff));
    }
    units += width;
    at += bytes;
  }
  return 0;
}

}  // namespace metalloid::objective_c
