// Which process something belongs to: a forked child has the parent's queues without their threads.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

#include "metalloid/error.h"

namespace metalloid::runtime {

class Process {
 public:
  bool is_this() const { return id_ == ::getpid(); }
  void require(std::string_view what) const {
    if (is_this()) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} of a queue that was made before fork(): its thread is in the parent process", what));
  }

 private:
  pid_t id_ = ::getpid();
};

}  // namespace metalloid::runtime
