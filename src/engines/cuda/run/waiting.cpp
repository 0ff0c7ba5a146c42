#include "engines/cuda/run/waiting.h"

#include <fmt/format.h>

#include <string>

#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

// Loops look at each 16,384th turn, and a turn may be long.
constexpr std::chrono::seconds grace{10};

}  // namespace

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

void StopRequest::make() noexcept {
  Clock::rep unmade = none;
  since_.compare_exchange_strong(unmade, Clock::now().time_since_epoch().count());
}

bool StopRequest::is_ignored() const {
  const Clock::rep since = since_;
  return since != none && Clock::now() - Clock::time_point(Clock::duration(since)) > grace;
}

void throw_endless(Gpu& gpu, const KernelInfo& kernel, bool is_interrupted, std::chrono::milliseconds timeout) {
  const std::string when = is_interrupted
                               ? "when it was interrupted"
                               : fmt::format("at its timeout of {} s", static_cast<double>(timeout.count()) / 1000);
  gpu.lose(is_interrupted ? ErrorCode::kernel_interrupted : ErrorCode::kernel_timed_out,
           fmt::format(
               "kernel '{}' was told to end {} and did not within {} s; its threads may wait for each other for ever",
               kernel.name, when, grace.count()));
  gpu.require();
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
