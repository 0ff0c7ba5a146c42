// Runs the compiler so that nothing it does, crashing and never ending included, harms the host.
#pragma once

#include <string>

#include "isolation/compile_limits.h"
#include "isolation/serve.h"
#include "support/shared_bytes.h"

namespace metalloid::isolation {

// What is compiled, for messages.
struct Subject {
  std::string source;       // the file's name
  std::string kernel = {};  // empty for a whole source
};

// The response of `perform` to a request: in a process of its own, or here under the crash guard where none can be
// started or METALLOID_COMPILE_IN_PROCESS=1 asks for it. Throws what `perform` throws, compile_error if a limit is met,
// internal if it crashed, kernel_interrupted if interrupt_kernels() was called meanwhile.
support::SharedBytes isolate(const std::string& request, const support::SharedBytes* attachment, const Subject& subject,
                             const CompileLimits& limits, Perform perform);

}  // namespace metalloid::isolation
