#include "support/quiet_writes.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

namespace metalloid::support {
namespace {

constexpr std::array quiet_signals = {SIGPIPE, SIGXFSZ};

}  // namespace

QuietWrites::QuietWrites() {
  sigset_t quiet;
  sigemptyset(&quiet);
  for (int signal : quiet_signals) sigaddset(&quiet, signal);
  sigemptyset(&pending_before_);
  ::sigpending(&pending_before_);
  ::pthread_sigmask(SIG_BLOCK, &quiet, &before_);
}

QuietWrites::~QuietWrites() {
  const int saved = errno;
  // What the writes raised is taken away before the signals can be delivered again.
  sigset_t pending, raised;
  sigemptyset(&pending);
  ::sigpending(&pending);
  sigemptyset(&raised);
  bool any = false;
  for (int signal : quiet_signals) {
    if (sigismember(&pending, signal) != 1 || sigismember(&pending_before_, signal) == 1) continue;
    sigaddset(&raised, signal);
    any = true;
  }
  const timespec at_once{};
  while (any && ::sigtimedwait(&raised, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = saved;
}

void write_to_standard_error(std::string_view text) noexcept {
  const QuietWrites quiet;
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace metalloid::support
