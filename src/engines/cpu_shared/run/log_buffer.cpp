#include "engines/cpu_shared/run/log_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace metalloid::engines::cpu {
namespace {

constexpr std::size_t capacity = most_log_bytes;
constexpr std::size_t most_name = 256, most_text = 1024, most_format = 4096;
constexpr std::uint32_t most_arguments = 64;

struct Header {
  std::uint64_t threadgroup;
  std::uint32_t thread, level;
  const char* where;
  std::uint32_t subsystem_bytes, category_bytes, format_bytes, count;
};

std::uint32_t length(const char* text, std::size_t most) {
  return static_cast<std::uint32_t>(text ? ::strnlen(text, most) : 0);
}

}  // namespace

void LogBuffer::prepare() {
  if (!memory_) memory_ = std::make_unique_for_overwrite<std::byte[]>(capacity);
  used_ = 0;
  lines_ = lost_ = 0;
}

void LogBuffer::add(std::uint32_t thread, std::uint32_t level, const char* where, const char* subsystem,
                    const char* category, const char* format, const LogArgument* arguments, std::uint32_t count) {
  std::size_t at = used_;
  const auto put = [&](const void* from, std::size_t bytes) {
    if (bytes > capacity - at) return false;
    std::memcpy(memory_.get() + at, from, bytes);
    at += bytes;
    return true;
  };
  count = std::min(count, most_arguments);
  const Header header{threadgroup_,
                      thread,
                      level,
                      where,
                      length(subsystem, most_name),
                      length(category, most_name),
                      length(format, most_format),
                      count};
  bool fits = lines_ < most_log_messages && put(&header, sizeof(header)) && put(subsystem, header.subsystem_bytes) &&
              put(category, header.category_bytes) && put(format, header.format_bytes);
  for (std::uint32_t i = 0; fits && i < count; ++i) {
    fits = put(&arguments[i], sizeof(LogArgument));
    if (!fits || arguments[i].kind != LogArgument::Kind::text) continue;
    const auto* text = reinterpret_cast<const char*>(arguments[i].values[0]);
    const std::uint32_t bytes = length(text, most_text);
    fits = put(&bytes, sizeof(bytes)) && put(text, bytes);
  }
  if (!fits) {
    ++lost_;
    return;
  }
  used_ = at;
  ++lines_;
}

std::vector<LogLine> LogBuffer::take(std::uint64_t& lost) {
  std::vector<LogLine> lines;
  std::size_t at = 0;
  const auto get = [&](void* to, std::size_t bytes) {
    std::memcpy(to, memory_.get() + at, bytes);
    at += bytes;
  };
  const auto get_text = [&](std::size_t bytes) {
    std::string text(bytes, '\0');
    get(text.data(), bytes);
    return text;
  };
  while (at < used_) {
    Header header;
    get(&header, sizeof(header));
    const std::string subsystem = printable(get_text(header.subsystem_bytes));
    const std::string category = printable(get_text(header.category_bytes));
    const std::string format = get_text(header.format_bytes);
    std::vector<LogArgument> arguments(header.count);
    std::vector<std::string> texts;
    for (LogArgument& argument : arguments) {
      get(&argument, sizeof(argument));
      if (argument.kind != LogArgument::Kind::text) continue;
      std::uint32_t bytes = 0;
      get(&bytes, sizeof(bytes));
      texts.push_back(get_text(bytes));
    }
    lines.push_back({header.threadgroup, header.thread, header.level, header.where, subsystem, category,
                     format_log(format, arguments, texts)});
  }
  lost += std::exchange(lost_, 0);
  used_ = 0;
  lines_ = 0;
  return lines;
}

}  // namespace metalloid::engines::cpu
