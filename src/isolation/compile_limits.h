// How much processor time and memory a compile may take. That it waits, for a processor or for others, counts for
// nothing.
#pragma once

#include <chrono>
#include <cstdint>

namespace metalloid::isolation {

struct CompileLimits {
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds limit{};  // of all its time; 0: none
  std::uint64_t memory = 0;           // bytes; 0: none
  Clock::duration spent = {};         // before, on what is compiled further now

  // Of a compile that starts now: $METALLOID_COMPILE_TIMEOUT seconds (120 unless set), less what was spent already, and
  // $METALLOID_COMPILE_MEMORY MiB (4096 unless set); 0 and inf are no limit. Throws invalid_argument for what is no
  // such number.
  static CompileLimits from_environment(Clock::duration spent = {});

  bool is_over() const { return limit.count() != 0 && spent >= limit; }
  // How much processor time each process of the compile may take: zero where there is no limit, at least one where
  // there is.
  std::chrono::milliseconds time_left() const;
  // How long to wait, also for what takes no processor time: because the machine is busy, or something holds it up.
  std::chrono::milliseconds patience() const;
  bool is_patience_over(Clock::time_point start) const;
};

}  // namespace metalloid::isolation
