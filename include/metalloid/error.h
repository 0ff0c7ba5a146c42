// The one exception type that every failure of the library is reported as.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace metalloid {

enum class ErrorCode {
  compile_error,       // the MSL source does not compile; the message is the compiler's log
  unknown_function,    // no kernel of that name in the library
  invalid_argument,    // an argument is missing, surplus, too small or of the wrong kind
  limit_exceeded,      // one of Metal's limits: threads, threadgroup memory, buffer slots
  unsupported,         // valid MSL that Metalloid does not offer (a graphics function, a texture)
  out_of_bounds,       // a kernel's access lies outside of what is bound, or of a variable, and was not carried out
  kernel_crashed,      // memory fault or illegal instruction inside a running kernel
  kernel_timed_out,    // the kernel was stopped because it ran longer than its timeout
  kernel_interrupted,  // the kernel was stopped by interrupt_kernels()
  kernel_reported,     // a kernel reported an error itself (TORCH_REPORT_ERROR)
  input_output,        // a file could not be read or written
  internal,            // a fault of the compiler itself
};

// The code's name as it stands above, for messages and the command line.
std::string_view name_of(ErrorCode code);

// The text with everything that would act on a terminal, or is no UTF-8, written as an escape (`\x1B`): control
// characters but line feeds and tabs, and those that turn the direction of writing. Sources choose names and messages.
std::string printable(std::string_view text);

class Error : public std::runtime_error {
 public:
  // what() is printable.
  Error(ErrorCode code, const std::string& message) : std::runtime_error(printable(message)), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace metalloid
