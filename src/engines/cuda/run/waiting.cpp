#include "engines/cuda/run/waiting.h"

#include <fmt/format.h>

#include "metalloid/error.h"

namespace metalloid::engines::cuda {

bool is_success(int result) {
  if (result == not_ready) return false;
  if (result == success) return true;
  throw Error(ErrorCode::kernel_crashed,
              fmt::format("the GPU failed: {}; this process cannot use it any more", driver().describe(result)));
}

bool is_captured(Handle stream) {
  int status = 0;
  driver().check(driver().stream_is_captured(stream, &status), "a question");
  return status != 0;
}

void throw_stopped(const KernelInfo& kernel, bool is_interrupted, std::chrono::milliseconds timeout) {
  if (is_interrupted) {
    throw Error(ErrorCode::kernel_interrupted, fmt::format("kernel '{}' was interrupted", kernel.name));
  }
  throw Error(ErrorCode::kernel_timed_out,
              fmt::format("kernel '{}' was stopped because it ran longer than its timeout of {} s", kernel.name,
                          static_cast<double>(timeout.count()) / 1000));
}

}  // namespace metalloid::engines::cuda
