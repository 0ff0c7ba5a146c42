// How long dispatches take by hardware's own clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "metalloid/dispatch.h"
#include "metalloid/library.h"

namespace metalloid::engines {
struct DispatchPlan;
}

namespace metalloid::runtime {

// Runs the dispatch so many times and returns how long one took. Nothing, and nothing done, where the hardware has no
// clock, or the dispatch is more than its work. Throws what execute() throws.
std::optional<std::chrono::duration<double>> timed_by_hardware(const Kernel& kernel, const engines::DispatchPlan& plan,
                                                               std::uint32_t calls);
std::optional<std::chrono::duration<double>> timed_by_hardware(const Kernel& kernel, const Dispatch& dispatch,
                                                               std::uint32_t calls);

}  // namespace metalloid::runtime
