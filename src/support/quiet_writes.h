// Writing where a failure must not raise a signal that ends the process.
#pragma once

#include <csignal>
#include <string_view>

namespace metalloid::support {

// While it lives, this thread's writes to broken pipes (SIGPIPE) and beyond the limit of file sizes (SIGXFSZ) fail with
// an error and nothing else.
class QuietWrites {
 public:
  QuietWrites();
  ~QuietWrites();
  QuietWrites(const QuietWrites&) = delete;
  QuietWrites& operator=(const QuietWrites&) = delete;

 private:
  sigset_t before_, pending_before_;
};

// Writes as much as standard error takes: it may be closed, full or a broken pipe.
void write_to_standard_error(std::string_view text) noexcept;

}  // namespace metalloid::support
