// Where the runtime tells the recorder (metalloid/recorder.h) what happened.
#pragma once

#include "metalloid/recorder.h"

namespace metalloid::runtime {

void add_event(Event event);

// Runs the action; `describe` gives the event, and is asked for it only while recording. Errors pass through.
template <typename Describe, typename Action>
void recorded(Describe describe, Action action) {
  if (!is_recording()) return action();
  try {
    action();
  } catch (const Error& error) {
    Event event = describe();
    event.error = error.code();
    event.message = error.what();
    add_event(std::move(event));
    throw;
  }
  Event event = describe();
  if (event.kind == Event::Kind::dispatch) add_event(std::move(event));
}

}  // namespace metalloid::runtime
