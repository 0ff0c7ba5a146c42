// Finds two accesses of one place in memory that are not ordered.
#pragma once

#include <optional>

#include "checker/run/clock.h"
#include "checker/run/shadow.h"

namespace metalloid::checker {

struct Race {
  Slot earlier;
  Order order = Order::unordered;  // of threads of one threadgroup
};

// Enters an access of some bytes of one cell and returns an earlier one that it races with, if there is one. `period`
// is Cell::is_shared's.
std::optional<Race> enter(Cell& cell, const Slot& access, Space space, const Clock& clock, std::uint32_t period);

}  // namespace metalloid::checker
