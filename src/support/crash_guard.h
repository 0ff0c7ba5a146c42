// Runs code that may crash or never end (a user's kernel, the compiler on hostile input) so that the process
// lives on: a SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS or SIGABRT of the guarded code becomes a result.
//
// How: each guarded region keeps a jump buffer. The signal handler, on an alternate stack because the fault may be
// a stack overflow, jumps back to the innermost region of the faulting thread; a thread outside any region gets
// whatever handler was installed before. The abandoned code runs no destructors, so guarded code must own nothing
// that others wait for (no held locks) and may leak what it allocated.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "support/function_ref.h"

namespace metalloid::support {

struct Guard;

// Makes guarded threads leave their regions from outside. A region takes part if it was entered with the token.
class StopToken {
 public:
  StopToken() = default;
  StopToken(const StopToken&) = delete;
  StopToken& operator=(const StopToken&) = delete;

  // Asks all regions to end: running ones are interrupted, later ones do not start. Repeat while threads_inside()
  // is true, for a thread may have been at its region's very edge. Not for calls from inside a region.
  void request_stop();
  bool stop_requested() const { return requested_.load(std::memory_order_acquire); }
  bool threads_inside() const;

 private:
  friend struct Guard;
  mutable std::mutex mutex_;
  Guard* first_ = nullptr;  // regions entered with this token
  std::atomic<bool> requested_{false};
};

struct GuardOptions {
  StopToken* stop = nullptr;
  // Regions of one occasion (not 0) follow each other on a thread without code of the host between them, and somebody
  // has called claim_signals() for all: what the host may have changed is looked at once per thread.
  std::uint64_t occasion = 0;
};

struct GuardOutcome {
  enum class End { finished, crashed, stopped };
  End end = End::finished;
  int signal = 0;                        // of a crash
  const void* fault_address = nullptr;   // of a crash by SIGSEGV, SIGBUS
  const void* instruction = nullptr;     // of a crash or a stop
  const void* stack_pointer = nullptr;   // the same
  const void* return_address = nullptr;  // the same, where a register has it
  bool stack_overflow = false;           // the fault lies right at the stack pointer
  bool beyond_addresses = false;         // the address is none that memory can have, and not known

  bool finished() const { return end == End::finished; }
  bool crashed() const { return end == End::crashed; }
  bool stopped() const { return end == End::stopped; }
  // "SIGSEGV (invalid memory access at 0x10)"
  std::string description() const;
};

// Exceptions of the function pass through.
GuardOutcome run_guarded(function_ref<void()> function, const GuardOptions& options = {});

// The same on a thread with a stack of its own of that size, for deeply recursive code. Returns when it is done.
GuardOutcome run_on_large_stack(function_ref<void()> function, std::size_t stack_bytes,
                                const GuardOptions& options = {});

// Puts the handlers in front again if somebody has installed others since (Python's faulthandler, a test framework),
// which are then called for faults outside of guarded regions. Guarded regions do it themselves, and see to it that the
// signals are not blocked and have a stack, unless their options or HostCall say that nothing can have changed.
void claim_signals();

// Stands at a host's call of a function that runs guarded regions. A host that calls again within the time of no system
// call has not changed its signals in between, so that they need not be looked at.
class HostCall {
 public:
  HostCall();
  ~HostCall();
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
};

// For moments of guarded code that must not be torn: while deferred, stop requests do not interrupt this thread.
// They are repeated (see StopToken), so none is lost.
void defer_stops(bool defer);

}  // namespace metalloid::support
