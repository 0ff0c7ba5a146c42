// The host's side of the compiler's process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "isolation/compile_limits.h"
#include "isolation/messages.h"
#include "support/shared_bytes.h"

namespace metalloid::isolation {

struct JobResult {
  enum class End { ended, timed_out, interrupted };
  End end = End::ended;
  Verdict verdict = {};                               // if it ended by itself
  std::optional<support::SharedBytes> response = {};  // likewise
};

// Has a request performed by the compiler's process, which the first call starts, and waits for it. May be called from
// several threads, which then compile side by side. Nothing if there is no such process and none can be started.
std::optional<JobResult> perform_elsewhere(std::string_view request, const support::SharedBytes* attachment,
                                           const CompileLimits& limits);

}  // namespace metalloid::isolation
