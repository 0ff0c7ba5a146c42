#include "engines/cuda/run/texts.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace metalloid::engines::cuda {

std::string text_at(Address address) {
  std::string text;
  std::array<char, 16> piece;
  while (address != 0 && text.size() < 4096) {
    // Byte by byte where the module's memory ends.
    std::size_t bytes = piece.size();
    if (driver().copy_out(piece.data(), address, bytes) != success) bytes = 1;
    if (bytes == 1 && driver().copy_out(piece.data(), address, bytes) != success) break;
    const std::size_t length = ::strnlen(piece.data(), bytes);
    text.append(piece.data(), length);
    if (length < bytes) break;
    address += bytes;
  }
  return text;
}

}  // namespace metalloid::engines::cuda
