#include "ir/fatal_errors.h"

#include <llvm/Support/ErrorHandling.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace metalloid::ir {
namespace {

// Fixed memory: the handler may run when allocation is what failed.
std::mutex mutex;
char message[1024];

void on_fatal_error(void*, const char* reason, bool) {
  if (mutex.try_lock()) {
    std::strncpy(message, reason, sizeof(message) - 1);
    mutex.unlock();
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

std::string take_fatal_error() {
  std::lock_guard lock(mutex);
  std::string result = message;
  message[0] = '\0';
  return result;
}

}  // namespace metalloid::ir
