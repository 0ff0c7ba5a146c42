// Where engines hand what kernels printed to the host (metalloid/log.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metalloid/log.h"

namespace metalloid::engines {

inline constexpr std::size_t most_log_messages = 10'000, most_log_bytes = std::size_t{1} << 20;

// An argument of the operation metalloid.log (ir/operations.def), in the layout of the library's log_argument.
struct LogArgument {
  enum class Kind : std::uint32_t { signed_integer, unsigned_integer, floating, text, address };
  Kind kind;
  std::uint32_t count;  // elements of a vector; 1
  std::uint32_t bytes;  // of an element
  std::uint32_t unused;
  std::uint64_t values[4];  // widened; the bits of a float; of texts the address
};
static_assert(sizeof(LogArgument) == 48);

// The text of a message. `texts` are the arguments' of kind text, in order. No format is wrong: what a conversion asks
// for in vain stands as it is, and arguments of another kind than the conversion's are shown as what they are.
std::string format_log(std::string_view format, const std::vector<LogArgument>& arguments,
                       const std::vector<std::string>& texts);

// Texts come from kernels and may end on a terminal.
std::string printable(std::string_view text);

// To the host's handler or standard error.
void deliver_log(const LogMessage& message) noexcept;

}  // namespace metalloid::engines
