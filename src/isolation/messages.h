// What the host and the compiler's process say to each other. Both run the same library, so structures pass as they
// are.
//
// The host sends an Order through the socket that it started the process with, and with it, in this order, file
// descriptors: the socket that the answer comes back through, the request, an empty file for the response, the
// host's working directory, its standard error, and the attachment if there is one. The answer is a Verdict. A host
// that closes its end of the answer's socket wants the compile no more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "support/crash_guard.h"

namespace metalloid::isolation {

inline constexpr std::size_t max_order_descriptors = 6;

struct Order {
  std::uint64_t environment_size;  // of the request: "NAME=value\0" for each METALLOID_* variable; the rest is the task
  std::uint64_t memory;            // bytes that the compile may use beyond what the process starts with; 0: any
  std::uint64_t processor_time;    // microseconds that the compile may take; 0: any
  std::uint64_t attachment_offset;
  bool show_standard_error;  // else what the compile prints there is dropped
};

// How a job's process ended.
struct Verdict {
  bool exited;
  int code;  // the exit status (an Ending), or the signal
};

// The exit statuses of a job's process.
enum class Ending : int {
  finished = 0,   // the response is the result
  failed,         // the response is an ErrorCode (an int) and the message
  crashed,        // the response is a CrashReport
  out_of_memory,  // beyond Order::memory, or the machine's
  no_response,    // the result cannot be handed over
};

struct CrashReport {
  support::GuardOutcome outcome;
  std::array<char, 1024> fatal_error;  // LLVM's last words, ending in zero; empty if there are none
};

}  // namespace metalloid::isolation
