// Where the runtime tells the recorder (metalloid/recorder.h) and the trace (metalloid/trace.h) what happened.
#pragma once

#include <exception>

#include "metalloid/recorder.h"
#include "runtime/observe/trace.h"

namespace metalloid::runtime {

inline bool is_observed() { return is_recording() || is_tracing(); }

// What became of something, to whoever records or traces.
void tell(Event event, TraceClock::time_point begin, TraceClock::time_point end, const std::exception_ptr& error);

// Runs the action; `describe` gives the event, and is asked for it only while recording or tracing. Errors pass
// through.
template <typename Describe, typename Action>
void recorded(const Describe& describe, Action action) {
  if (!is_observed()) return action();
  const auto begin = TraceClock::now();
  try {
    action();
  } catch (...) {
    tell(describe(), begin, TraceClock::now(), std::current_exception());
    throw;
  }
  tell(describe(), begin, TraceClock::now(), nullptr);
}

}  // namespace metalloid::runtime
