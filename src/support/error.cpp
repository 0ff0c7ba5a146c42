// Names of error codes and of the enumerations that reflection uses.
#include "metalloid/error.h"

#include <cstdint>

#include <fmt/format.h>

namespace metalloid {
namespace {

// The length in bytes of the UTF-8 sequence at the start of `text`, and its code point; length 0 if it is none.
std::size_t decode(std::string_view text, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) {
    code = byte(0);
    return 1;
  }
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || length > text.size()) return 0;
  code = byte(0) & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : length;
}

bool acts_on_terminals(std::uint32_t code) {
  if (code == '\n' || code == '\t') return false;
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t code = 0;
    const std::size_t length = decode(text, code);
    if (length == 0) {
      result += fmt::format("\\x{:02X}", static_cast<unsigned char>(text.front()));
    } else if (!acts_on_terminals(code)) {
      result += text.substr(0, length);
    } else if (code < 0x100) {
      result += fmt::format("\\x{:02X}", code);
    } else {
      result += fmt::format("\\u{:04X}", code);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::compile_error: return "compile_error";
    case ErrorCode::unknown_function: return "unknown_function";
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::limit_exceeded: return "limit_exceeded";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::out_of_bounds: return "out_of_bounds";
    case ErrorCode::kernel_crashed: return "kernel_crashed";
    case ErrorCode::kernel_timed_out: return "kernel_timed_out";
    case ErrorCode::kernel_reported: return "kernel_reported";
    case ErrorCode::kernel_interrupted: return "kernel_interrupted";
    case ErrorCode::input_output: return "input_output";
    case ErrorCode::internal: return "internal";
  }
  return "unknown";
}

}  // namespace metalloid
