// Finds two accesses of one place in memory that are not ordered.
#pragma once

#include <optional>

#include "checker/run/clock.h"
#include "checker/run/shadow.h"

namespace metalloid::checker {

struct Race {
  Slot earlier;
  Order order = Order::unordered;  // of threads of one threadgroup
  bool is_of_lockstep = false;     // lanes of one simdgroup in two instructions: well as long as they run in step
};

// What an access races with. Which of the two is graver shows later: their bytes may be the same, or the kernel may
// have fences.
struct Races {
  std::optional<Race> within;  // its own threadgroup: the gravest
  std::optional<Race> across;  // threadgroups
};

// Enters an access of some bytes of one cell and returns earlier ones that it races with. `period` is
// Cell::is_shared's.
Races enter(Cell& cell, const Slot& access, Space space, const Clock& clock, std::uint32_t period);

}  // namespace metalloid::checker
