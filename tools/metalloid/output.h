// What the tool says: results on stdout, messages on stderr. Text of others (names, sources, file names) cannot steer
// the terminal, a result that stdout does not take is an error, and a message that nobody can read is none.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace metalloid::tool {

// Control characters, bytes that are no UTF-8 and what turns the direction of text become "\x1b", "\u202e"; newlines
// and tabs stay.
std::string printable(std::string_view text);
// The same for a name inside a line: also newlines and tabs.
std::string printable_name(std::string_view name);
// printable_name() of at most about `limit` bytes, for what may be megabytes long.
std::string shortened(std::string_view text, std::size_t limit = 200);

// Descriptors 0 to 2 that the tool was started without refuse everything, instead of being those of the next files
// that are opened. Writes beyond a limit of file sizes and to pipes that nobody reads become errors.
void prepare_standard_streams();

// To stdout. Throws Error(input_output) if it does not take it.
void write_result(std::string_view text);
// Code and data, unchanged unless stdout is a terminal.
void write_raw_result(std::string_view bytes);
// Waits until stdout has taken everything; throws as write_result().
void finish_results();
// A pipe that nobody reads any more: ends this process as such a pipe usually does, unless the caller ignores that.
void end_if_reader_is_gone();

// To stderr, which may be closed or full.
void write_message(std::string_view text) noexcept;
// The same for text that is printable already but for its colours.
void write_raw_message(std::string_view text) noexcept;

template <typename... T>
void print_result(fmt::format_string<T...> format, T&&... values) {
  write_result(fmt::format(format, std::forward<T>(values)...));
}

template <typename... T>
void print_message(fmt::format_string<T...> format, T&&... values) {
  write_message(fmt::format(format, std::forward<T>(values)...));
}

}  // namespace metalloid::tool
