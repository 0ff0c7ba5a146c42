// Names of error codes and of the enumerations that reflection uses.
#include "metalloid/error.h"

namespace metalloid {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::compile_error: return "compile_error";
    case ErrorCode::unknown_function: return "unknown_function";
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::limit_exceeded: return "limit_exceeded";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::kernel_crashed: return "kernel_crashed";
    case ErrorCode::kernel_timed_out: return "kernel_timed_out";
    case ErrorCode::kernel_reported: return "kernel_reported";
    case ErrorCode::kernel_interrupted: return "kernel_interrupted";
    case ErrorCode::input_output: return "input_output";
    case ErrorCode::internal: return "internal";
  }
  return "unknown";
}

}  // namespace metalloid
