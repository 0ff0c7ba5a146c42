#include "ir/support/fatal_errors.h"

#include <llvm/Support/ErrorHandling.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace metalloid::ir {
namespace {

// Fixed memory: the handler may run when allocation is what failed. No lock, for a crash would leave it held: of two
// threads that fail at once the second one's message is lost.
char message[1024];
std::atomic<pid_t> owner{0};  // the thread whose message it is

void on_fatal_error(void*, const char* reason, bool) {
  pid_t nobody = 0;
  if (owner.compare_exchange_strong(nobody, ::gettid())) std::strncpy(message, reason, sizeof(message) - 1);
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
  if (owner.load() != ::gettid()) return;
  std::strncpy(target.data(), message, target.size() - 1);
  target.back() = '\0';
  owner = 0;
}

void call_when_out_of_memory(void (*function)()) {
  keep_fatal_errors();
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler([](void* data, const char*, bool) { reinterpret_cast<void (*)()>(data)(); },
                                        reinterpret_cast<void*>(function));
}

}  // namespace metalloid::ir
