#include "errors.h"

#include <c10/util/Exception.h>
#include <metalloid/reported_errors.h>

#include <mutex>
#include <set>
#include <string>

namespace metalloid::torch_device {

namespace {

// Exceptions keep pointers to the names of their places.
const char* kept(const std::string& name) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& names = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

}  // namespace

void raise(const Error& error) {
  const c10::SourceLocation location = {__func__, __FILE__, __LINE__};
  switch (error.code()) {
    case ErrorCode::compile_error: throw c10::SyntaxError(location, error.what());
    case ErrorCode::out_of_bounds:
    case ErrorCode::kernel_crashed:
    case ErrorCode::kernel_timed_out:
    case ErrorCode::kernel_interrupted:
    case ErrorCode::kernel_reported: throw c10::AcceleratorError(location, 1, error.what());
    default: throw c10::Error(location, error.what());
  }
}

void raise_reported_error() {
  auto reported = take_reported_error();
  if (!reported) return;
  throw c10::AcceleratorError({kept(reported->function), kept(reported->file), reported->line}, 1, reported->message);
}

}  // namespace metalloid::torch_device
