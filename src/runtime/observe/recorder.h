// Where the runtime tells the recorder (metalloid/recorder.h) and the trace (metalloid/trace.h) what happened.
#pragma once

#include <utility>

#include "metalloid/recorder.h"
#include "runtime/observe/trace.h"

namespace metalloid::runtime {

void add_event(Event event);

// Runs the action; `describe` gives the event, and is asked for it only while recording or tracing. Errors pass
// through.
template <typename Describe, typename Action>
void recorded(Describe describe, Action action) {
  if (!is_recording() && !is_tracing()) return action();
  const auto begin = TraceClock::now();
  const auto tell = [&](Event event) {
    if (is_tracing()) add_to_trace(event, begin, TraceClock::now());
    // Of what went well, only dispatches are kept.
    if (is_recording() && (event.error || event.kind == Event::Kind::dispatch)) add_event(std::move(event));
  };
  try {
    action();
  } catch (const Error& error) {
    Event event = describe();
    event.error = error.code();
    event.message = error.what();
    tell(std::move(event));
    throw;
  }
  tell(describe());
}

}  // namespace metalloid::runtime
