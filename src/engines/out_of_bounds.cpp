#include "engines/out_of_bounds.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <string_view>

#include "ir/bounds/accesses.h"

namespace metalloid::engines {
namespace {

using ir::AccessKind;

struct AccessText {
  explicit AccessText(std::string_view text) : kind(static_cast<AccessKind>(text.front())) {
    const char* end = text.data() + text.size();
    const char* line_begins = std::from_chars(text.data() + 1, end, bytes).ptr;
    if (line_begins != end) ++line_begins;
    line = std::string_view(line_begins, static_cast<std::size_t>(end - line_begins));
  }
  AccessKind kind;
  std::uint64_t bytes = 0;
  std::string_view line;
};

// "argument 'x' (buffer 0)", and the size of its elements.
std::string name_of_memory(std::string_view what, const KernelInfo& kernel, std::uint64_t& element) {
  const std::size_t space = what.find(' ');
  const std::string_view kind = what.substr(0, space), name = what.substr(space + 1);
  if (kind == "argument") {
    std::size_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number >= kernel.arguments.size()) return "an argument";
    const ArgumentInfo& argument = kernel.arguments[number];
    if (argument.type.size != 0) element = argument.type.size;
    const char* slot = argument.kind == ArgumentKind::threadgroup_memory ? "threadgroup" : "buffer";
    return fmt::format("argument '{}' ({} {})", argument.name, slot, argument.index);
  }
  const std::string_view of = kind == "threadgroup" ? "the threadgroup's"
                              : kind == "constant"  ? "constant"
                                                    : "a thread's";
  if (name.empty()) return fmt::format("{} variable", of);
  return fmt::format("{}{} '{}'", of, kind == "constant" ? "" : " variable", name);
}

// By its position in the grid.
std::string name_of_thread(std::uint32_t thread, const ThreadgroupPlace& place) {
  const std::uint32_t* at = place.position;
  if (thread == unknown_thread) return fmt::format("in threadgroup ({}, {}, {})", at[0], at[1], at[2]);
  std::uint32_t position[3];
  for (int d = 0; d < 3; ++d) {
    position[d] = at[d] * place.dispatch_threads_per_threadgroup[d] + thread % place.threads_per_threadgroup[d];
    thread /= place.threads_per_threadgroup[d];
  }
  return fmt::format("thread ({}, {}, {})", position[0], position[1], position[2]);
}

const char* verb_of(AccessKind kind) {
  return kind == AccessKind::read ? "reads" : kind == AccessKind::write ? "writes" : "changes";
}

std::string describe_wrapped_row(const OutOfBounds& access, const KernelInfo& kernel, const ThreadgroupPlace& place) {
  std::string message = fmt::format("kernel '{}'", kernel.name);
  if (access.what && access.first) {
    const AccessText text(access.first);
    std::uint64_t element = 1;
    message += fmt::format(" {} {}", verb_of(text.kind), name_of_memory(access.what, kernel, element));
    if (!text.line.empty()) message += fmt::format(" at {}", text.line);
  } else {
    message += " reaches memory";
  }
  return message + " by an index of 32 bits that wraps around between threads of one simdgroup, " +
         name_of_thread(access.thread, place) + ": use an index of 64 bits, or device 'reference'";
}

std::int64_t rounded_down(std::int64_t value, std::int64_t unit) { return value / unit - (value % unit < 0 ? 1 : 0); }

}  // namespace

std::string describe(const OutOfBounds& access, const KernelInfo& kernel, const ThreadgroupPlace& place) {
  if (access.is_wrapped_row) return describe_wrapped_row(access, kernel, place);
  const auto begin = static_cast<std::int64_t>(access.offset), size = static_cast<std::int64_t>(access.available);
  const std::int64_t least = -static_cast<std::int64_t>(access.front);
  const bool is_before = begin < least || begin >= size;
  const AccessText text(is_before ? access.first : access.last);
  // Of several accesses the one that lies outside.
  const auto bytes = static_cast<std::int64_t>(text.bytes != 0 ? text.bytes : access.bytes);
  const std::int64_t from =
      is_before || text.bytes == 0 ? begin : begin + static_cast<std::int64_t>(access.bytes) - bytes;
  std::uint64_t element = text.bytes != 0 ? text.bytes : 1;
  const std::string memory = name_of_memory(access.what, kernel, element);
  const auto unit = static_cast<std::int64_t>(element);
  std::string message = fmt::format("kernel '{}' {} outside of {}: ", kernel.name, verb_of(text.kind), memory);
  // The first element that is not there.
  const std::int64_t index = rounded_down(from < least || from >= size ? from : size, unit);
  message += fmt::format("element {} of {} (bytes {} to {} of {})", index, size / unit, from, from + bytes - 1, size);
  if (!text.line.empty()) message += fmt::format(" at {}", text.line);
  return message + ", " + name_of_thread(access.thread, place);
}

}  // namespace metalloid::engines
