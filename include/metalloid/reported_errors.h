// What kernels report of themselves, with TORCH_REPORT_ERROR of <c10/metal/error.h>.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "metalloid/device.h"

namespace metalloid {

struct ReportedError {
  std::string file, function, message;
  std::uint32_t line = 0;
  std::uint32_t count = 0;  // how many there were; this is the first
};

// The memory that kernels report errors into: one for the process, as torch has one per stream.
const Buffer& error_buffer();
// The first error that was reported since the last call; all are forgotten.
std::optional<ReportedError> take_reported_error();

// Throws what kernels reported since the last call: the first message, as an Error with the code kernel_reported. All
// are forgotten then.
void synchronize();

}  // namespace metalloid
