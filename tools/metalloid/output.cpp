// Escaping, and standard streams that fail in words.
#include "output.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "metalloid/error.h"

namespace metalloid::tool {
namespace {

bool pipe_signal_was_ignored = false;
bool reader_is_gone = false;

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  // bytes; 0 if these are no UTF-8
};

// RFC 3629: no overlong forms, no surrogates.
Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t code = first & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

bool steers_terminal(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  // Marks, embeddings, overrides and isolates that turn the direction of text, and separators of lines.
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

std::string escaped(std::string_view text, bool one_line) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = decode(text);
    const std::size_t length = character.length == 0 ? 1 : character.length;
    const bool stays = !one_line && (character.code == '\n' || character.code == '\t');
    if (character.length == 0) {
      result += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[0]));
    } else if (stays || !steers_terminal(character.code)) {
      result += text.substr(0, length);
    } else if (character.code == '\n' || character.code == '\t') {
      result += character.code == '\n' ? "\\n" : "\\t";
    } else {
      result += fmt::format(fmt::runtime(character.code < 0x80 ? "\\x{:02x}" : "\\u{:04x}"), character.code);
    }
    text.remove_prefix(length);
  }
  return result;
}

[[noreturn]] void fail() {
  const int error = errno;
  reader_is_gone = error == EPIPE;
  throw Error(ErrorCode::input_output,
              fmt::format("stdout cannot be written: {}", std::generic_category().message(error)));
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, false); }
std::string printable_name(std::string_view name) { return escaped(name, true); }

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return printable_name(text);
  const std::size_t size = text.size();
  std::size_t end = limit;
  while (end > limit - 4 && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) --end;  // not inside a character
  return fmt::format("{}... ({} bytes)", printable_name(text.substr(0, end)), size);
}

void prepare_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is this one. Opened the wrong way round, so that its use fails.
    (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  ::signal(SIGXFSZ, SIG_IGN);
  pipe_signal_was_ignored = ::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
}

void write_result(std::string_view text) {
  const std::string safe = printable(text);
  if (std::fwrite(safe.data(), 1, safe.size(), stdout) != safe.size()) fail();
}

void write_raw_result(std::string_view bytes) {
  if (::isatty(STDOUT_FILENO) != 0) return write_result(bytes);
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) fail();
}

void finish_results() {
  if (std::fflush(stdout) != 0) fail();
  // Some file systems (NFS, quotas) tell of a full disk when a descriptor is closed.
  const int copy = ::dup(STDOUT_FILENO);
  if (copy >= 0 && ::close(copy) != 0) fail();
}

void end_if_reader_is_gone() {
  if (!reader_is_gone || pipe_signal_was_ignored) return;
  ::signal(SIGPIPE, SIG_DFL);
  ::raise(SIGPIPE);
}

void write_raw_message(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void write_message(std::string_view text) noexcept {
  try {
    write_raw_message(printable(text));
  } catch (...) {  // no memory for a message
  }
}

}  // namespace metalloid::tool
