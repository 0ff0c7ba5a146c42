// Where the runtime tells the trace (metalloid/trace.h) what took how long.
#pragma once

#include <chrono>

#include "metalloid/recorder.h"
#include "metalloid/trace.h"

namespace metalloid::runtime {

using TraceClock = std::chrono::steady_clock;

bool is_tracing();
void add_to_trace(const Event& event, TraceClock::time_point begin, TraceClock::time_point end);

}  // namespace metalloid::runtime
