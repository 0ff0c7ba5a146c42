#include "engines/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

#include "support/fork_safe_mutex.h"
#include "support/quiet_writes.h"

namespace metalloid {
namespace {

support::ForkSafeMutex& handler_mutex = *new support::ForkSafeMutex;
std::shared_ptr<const LogHandler>& handler = *new std::shared_ptr<const LogHandler>;

}  // namespace

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::error: return "error";
    case LogLevel::fault: return "fault";
    case LogLevel::standard: break;
  }
  return "default";
}

std::string LogMessage::description() const {
  if (lost != 0) return fmt::format("kernel '{}': {} more messages are lost", kernel, lost);
  const Size& at = thread_position_in_grid;
  const std::string severity = level == LogLevel::standard ? std::string() : fmt::format(" {}:", name_of(level));
  const std::string where = file.empty() ? std::string() : fmt::format(", {}:{}", file, line);
  std::string logger = subsystem;
  if (!category.empty()) logger += ":" + category;
  if (!logger.empty()) logger = " [" + logger + "]";
  return fmt::format("kernel '{}', thread ({}, {}, {}){}:{}{} {}", kernel, at.x, at.y, at.z, where, severity, logger,
                     text);
}

void set_log_handler(LogHandler wanted) {
  auto next = wanted ? std::make_shared<const LogHandler>(std::move(wanted)) : nullptr;
  const std::lock_guard lock(handler_mutex);
  std::swap(handler, next);
}

namespace engines {
namespace {

using Kind = LogArgument::Kind;

// One conversion: %[flags][width][.precision][vN][size]letter
struct Conversion {
  std::string flags;
  int width = -1, precision = -1;
  bool width_is_argument = false, precision_is_argument = false;
  char letter = 0;
  std::size_t length = 0;  // of its text
};

constexpr int most_width = 1000;

// A number, at most most_width.
int read_number(std::string_view text, std::size_t& at) {
  int result = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    result = std::min(result * 10 + (text[at] - '0'), most_width);
  }
  return result;
}

// Of a text that begins with %.
Conversion parse(std::string_view text) {
  Conversion result;
  std::size_t at = 1;
  const auto next_is_one_of = [&](std::string_view set) {
    return at < text.size() && set.find(text[at]) != std::string_view::npos;
  };
  while (next_is_one_of("-+ #0")) {
    if (result.flags.find(text[at]) == std::string::npos) result.flags += text[at];
    ++at;
  }
  if (next_is_one_of("*")) {
    result.width_is_argument = true;
    ++at;
  } else if (next_is_one_of("0123456789")) {
    result.width = read_number(text, at);
  }
  if (next_is_one_of(".")) {
    ++at;
    if (next_is_one_of("*")) {
      result.precision_is_argument = true;
      ++at;
    } else {
      result.precision = read_number(text, at);
    }
  }
  if (next_is_one_of("v")) {  // arguments know how many elements they have
    ++at;
    read_number(text, at);
  }
  while (next_is_one_of("hljzt")) ++at;  // and how large they are
  if (next_is_one_of("diouxXcsfFeEgGaAp%")) result.letter = text[at++];
  result.length = at;
  return result;
}

template <typename T>
std::string print(const Conversion& conversion, const char* letter, T value) {
  std::string format = "%" + conversion.flags;
  if (conversion.width >= 0) format += std::to_string(conversion.width);
  if (conversion.precision >= 0) format += "." + std::to_string(conversion.precision);
  format += letter;
  std::array<char, 2 * most_width + 512> text;
  const int length = std::snprintf(text.data(), text.size(), format.c_str(), value);
  return {text.data(), static_cast<std::size_t>(std::clamp<int>(length, 0, text.size() - 1))};
}

std::uint64_t unsigned_value(const LogArgument& argument, std::uint64_t value) {
  return argument.bytes >= 8 ? value : value & ((std::uint64_t{1} << (8 * argument.bytes)) - 1);
}

std::string print_element(const Conversion& conversion, const LogArgument& argument, std::uint64_t value) {
  constexpr std::string_view integers = "diouxX", reals = "fFeEgGaA";
  const char letter = conversion.letter;
  if (argument.kind == Kind::floating) {
    const auto number = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    const char wanted[] = {reals.find(letter) != std::string_view::npos ? letter : 'g', 0};
    return print(conversion, wanted, number);
  }
  if (letter == 'p' || argument.kind == Kind::address) {
    return print(conversion, "s", fmt::format("{:#x}", unsigned_value(argument, value)).c_str());
  }
  if (letter == 'c') return print(conversion, "c", static_cast<int>(value & 0xff));
  const bool is_signed = argument.kind == Kind::signed_integer;
  if (reals.find(letter) != std::string_view::npos) {
    const char wanted[] = {letter, 0};
    return print(conversion, wanted,
                 is_signed ? static_cast<double>(static_cast<std::int64_t>(value)) : static_cast<double>(value));
  }
  const bool as_signed =
      letter == 'd' || letter == 'i' || (integers.find(letter) == std::string_view::npos && is_signed);
  if (as_signed) return print(conversion, "lld", static_cast<long long>(value));
  const char wanted[] = {'l', 'l', integers.find(letter) != std::string_view::npos ? letter : 'u', 0};
  return print(conversion, wanted, static_cast<unsigned long long>(unsigned_value(argument, value)));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if ((code < 0x20 && character != '\n' && character != '\t') || code == 0x7f) {
      result += fmt::format("\\x{:02x}", code);
    } else {
      result += character;
    }
  }
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

std::string format_log(std::string_view format, const std::vector<LogArgument>& arguments,
                       const std::vector<std::string>& texts) {
  std::string result;
  std::size_t argument = 0, text = 0;
  const auto take_number = [&](int& number) {
    if (argument == arguments.size()) return;
    const auto value = static_cast<std::int64_t>(arguments[argument++].values[0]);
    number = static_cast<int>(std::clamp<std::int64_t>(value, -1, most_width));
  };
  while (!format.empty()) {
    const std::size_t percent = std::min(format.find('%'), format.size());
    result += format.substr(0, percent);
    format.remove_prefix(percent);
    if (format.empty()) break;
    Conversion conversion = parse(format);
    const std::string_view spelling = format.substr(0, conversion.length);
    format.remove_prefix(conversion.length);
    if (conversion.width_is_argument) take_number(conversion.width);
    if (conversion.precision_is_argument) take_number(conversion.precision);
    if (conversion.letter == '%') {
      result += '%';
    } else if (conversion.letter == 0 || argument == arguments.size()) {
      result += spelling;
    } else if (const LogArgument& given = arguments[argument++]; given.kind == Kind::text) {
      result += print(conversion, "s", text < texts.size() ? texts[text].c_str() : "");
      ++text;
    } else {
      for (std::uint32_t i = 0; i < std::clamp<std::uint32_t>(given.count, 1, 4); ++i) {
        if (i > 0) result += ',';
        result += print_element(conversion, given, given.values[i]);
      }
    }
  }
  return printable(result);
}

void deliver_log(const LogMessage& message) noexcept {
  try {
    std::shared_ptr<const LogHandler> current;
    {
      const std::lock_guard lock(handler_mutex);
      current = handler;
    }
    if (current) {
      (*current)(message);
    } else {
      support::write_to_standard_error(message.description() + "\n");
    }
  } catch (...) {  // the handler's own affair
  }
}

}  // namespace engines
}  // namespace metalloid
