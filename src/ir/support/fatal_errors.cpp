#include "ir/support/fatal_errors.h"

#include <llvm/Support/ErrorHandling.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace metalloid::ir {
namespace {

// Fixed memory: the handler may run when allocation is what failed. No lock, for a crash would leave it held: the
// message of two threads that fail at once may be either's.
char message[1024];
std::atomic<bool> is_written{false};

void on_fatal_error(void*, const char* reason, bool) {
  if (!is_written.load()) {
    std::strncpy(message, reason, sizeof(message) - 1);
    is_written = true;
  }
  std::abort();
}

}  // namespace

void keep_fatal_errors() {
  static const bool installed = [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_fatal_error);
    return true;
  }();
  (void)installed;
}

void take_fatal_error(std::span<char> target) {
  target[0] = '\0';
  if (!is_written.load()) return;
  std::strncpy(target.data(), message, target.size() - 1);
  target.back() = '\0';
  is_written = false;
}

void call_when_out_of_memory(void (*function)()) {
  keep_fatal_errors();
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler([](void* data, const char*, bool) { reinterpret_cast<void (*)()>(data)(); },
                                        reinterpret_cast<void*>(function));
}

}  // namespace metalloid::ir
