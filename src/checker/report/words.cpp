#include "checker/report/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "metalloid/error.h"

namespace metalloid::checker {
namespace {

std::string text(const Size& size) { return fmt::format("({}, {}, {})", size.x, size.y, size.z); }

}  // namespace

std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const std::size_t length = byte(0) < 0xc2 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : byte(0) < 0xf5 ? 4 : 1;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 1;
  }
  return length;
}

std::string one_line(std::string_view text, std::size_t most_bytes) {
  const bool is_long = text.size() > most_bytes;
  if (is_long) {
    std::size_t end = most_bytes;
    while (end > 0 && end + 4 > most_bytes && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end);
  }
  std::string result;
  for (const char c : printable(text)) {
    if (c == '\n' || c == '\t') {
      result += c == '\n' ? "\\n" : "\\t";
    } else {
      result += c;
    }
  }
  return is_long ? result + "..." : result;
}

std::string counted(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string action_of(const FindingStep& step) {
  std::string action = one_line(step.action);
  if (!action.empty() && action != "here" && !action.ends_with(" here")) action += " here";
  return action;
}

std::string words_of_caller(const SourcePlace& inner) {
  return inner.macro.empty() ? "called from here" : fmt::format("macro '{}' is expanded here", one_line(inner.macro));
}

std::string words_of(const ThreadPlace& thread) {
  return fmt::format("thread {} of threadgroup {} (simdgroup {}, lane {})", text(thread.position_in_threadgroup),
                     text(thread.threadgroup), thread.simdgroup, thread.lane);
}

std::string words_of(const FindingStep& step) {
  std::string words = step.thread ? words_of(*step.thread) : std::string();
  const std::string action = action_of(step);
  if (!action.empty()) words += (words.empty() ? "" : " ") + action;
  if (!step.value.empty()) words += (words.empty() ? "" : ": ") + one_line(step.value);
  return words;
}

}  // namespace metalloid::checker
