// How much time and memory a compile may take.
#pragma once

#include <chrono>
#include <cstdint>

namespace metalloid::isolation {

struct CompileLimits {
  using Clock = std::chrono::steady_clock;

  Clock::time_point deadline = Clock::time_point::max();  // max(): none
  std::uint64_t memory = 0;                               // bytes; 0: none
  Clock::duration spent = {};                             // before, on what is compiled further now

  // Of a compile that starts now: $METALLOID_COMPILE_TIMEOUT seconds (120 unless set), less what was spent already, and
  // $METALLOID_COMPILE_MEMORY MiB (4096 unless set); 0 and inf are no limit. Throws invalid_argument for what is no
  // such number.
  static CompileLimits from_environment(Clock::duration spent = {});

  bool is_over() const { return Clock::now() >= deadline; }
  // Zero where there is no deadline, at least one where there is.
  std::chrono::milliseconds time_left() const;
};

}  // namespace metalloid::isolation
