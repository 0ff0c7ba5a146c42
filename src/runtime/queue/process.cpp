#include "runtime/queue/process.h"

#include <fmt/format.h>
#include <pthread.h>

#include "metalloid/error.h"

namespace metalloid::runtime {
namespace {

// Written in a child that has one thread.
constinit unsigned fork_count = 0;
[[maybe_unused]] const int is_counted = ::pthread_atfork(nullptr, nullptr, [] { ++fork_count; });

}  // namespace

unsigned Process::forks() { return fork_count; }

void Process::require(std::string_view what) const {
  if (is_this()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} of a queue that was made before fork(): its thread is in the parent process", what));
}

}  // namespace metalloid::runtime
