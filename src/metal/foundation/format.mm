// Formats of NSString and NSLog.
#include <cstdarg>
#include <cstdio>
#include <vector>

#include "metal/foundation/foundation.h"

namespace metalloid::objective_c {
namespace {

void append(std::string& result, const char* format, ...) __attribute__((format(printf, 2, 3)));
void append(std::string& result, const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  if (length > 0) {
    const std::size_t before = result.size();
    result.resize(before + static_cast<std::size_t>(length) + 1);
    std::vsnprintf(result.data() + before, static_cast<std::size_t>(length) + 1, format, again);
    result.pop_back();
  }
  va_end(again);
}

}  // namespace

std::string formatted(NSString* format, va_list arguments) {
  const std::string_view text = text_of(format);
  std::string result;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
#pragma clang diagnostic ignored "-Wformat-security"
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '%') {
      result += text[at++];
      continue;
    }
    // One conversion, with widths that are arguments written out.
    std::string one = "%";
    std::size_t end = at + 1;
    for (; end < text.size() && std::string_view("0123456789.+-* #hlqjzt'").find(text[end]) != std::string_view::npos;
         ++end) {
      if (text[end] == '*') {
        one += std::to_string(va_arg(arguments, int));
      } else {
        one += text[end] == 'q' ? 'l' : text[end];
      }
    }
    if (end == text.size()) break;
    const char kind = text[end];
    one += kind == 'D' ? 'd' : kind == 'U' ? 'u' : kind == 'O' ? 'o' : kind;
    const bool is_long = one.find_first_of("ljzt") != std::string::npos;
    if (kind == '%') {
      result += '%';
    } else if (kind == '@') {
      result += describe(va_arg(arguments, id));
    } else if (std::string_view("diuxXocDUO").find(kind) != std::string_view::npos) {
      is_long ? append(result, one.c_str(), va_arg(arguments, long))
              : append(result, one.c_str(), va_arg(arguments, int));
    } else if (std::string_view("fFeEgGaA").find(kind) != std::string_view::npos) {
      append(result, one.c_str(), va_arg(arguments, double));
    } else if (kind == 's') {
      append(result, one.c_str(), va_arg(arguments, const char*));
    } else if (kind == 'p') {
      append(result, "%p", va_arg(arguments, void*));
    }
    at = end + 1;
  }
#pragma clang diagnostic pop
  return result;
}

}  // namespace metalloid::objective_c

using metalloid::objective_c::formatted;

void NSLog(NSString* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "%s\n", text.c_str());
}
