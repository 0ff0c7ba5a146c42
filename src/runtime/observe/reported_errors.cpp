#include "metalloid/reported_errors.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "metalloid/error.h"
#include "support/fork_safe_mutex.h"

namespace metalloid {
namespace {

// As in <c10/metal/error.h>.
struct Message {
  char file[128];
  char function[128];
  char text[250];
  std::uint32_t line;
};
struct Messages {
  std::uint32_t count;
  Message messages[30];
};
static_assert(sizeof(Message) == 512 && sizeof(Messages) == 15364);

support::ForkSafeMutex& mutex = *new support::ForkSafeMutex;
// Never destroyed: kernels of other threads may run until the very end.
const Buffer& buffer = *new Buffer(sizeof(Messages));

template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return {field, ::strnlen(field, size)};
}

}  // namespace

const Buffer& error_buffer() { return buffer; }

std::optional<ReportedError> take_reported_error() {
  const std::lock_guard lock(mutex);
  auto& reported = *static_cast<Messages*>(error_buffer().contents());
  if (std::atomic_ref(reported.count).load() == 0) return std::nullopt;
  const Message& first = reported.messages[0];
  ReportedError error{text_of(first.file), text_of(first.function), text_of(first.text), first.line, reported.count};
  std::memset(static_cast<void*>(&reported), 0, sizeof(reported));
  return error;
}

void synchronize() {
  if (auto error = take_reported_error()) throw Error(ErrorCode::kernel_reported, error->message);
}

}  // namespace metalloid
