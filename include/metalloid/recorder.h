// What ran and what failed, for tools that explain a failure afterwards: test frameworks, debuggers.
//
// Off unless record(true) is called or $METALLOID_RECORD is 1; then the last 1000 events of the process are kept. With
// a folder in $METALLOID_RECORD, a process that never calls record() writes the number of its dispatches there when it
// ends, to a file named by its id: so a test learns about the processes that it starts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metalloid/dispatch.h"
#include "metalloid/error.h"

namespace metalloid {

// Metal source as it was handed to the compiler.
struct SourceText {
  std::string name;  // as diagnostics show it: "program_source", or a file
  std::string text;
};

// A dispatch, or a failure to make a library or a kernel.
struct Event {
  enum class Kind : std::uint8_t { library, kernel, dispatch };

  Kind kind = Kind::dispatch;
  std::string device{};
  std::string kernel{};  // empty: the library did not compile
  std::shared_ptr<const SourceText> source{};
  Size grid{}, threads_per_threadgroup{};  // of a dispatch
  bool grid_counts_threads = true;         // else threadgroups
  std::optional<ErrorCode> error{};        // none: it succeeded
  std::string message{};                   // of the error
  bool from_cache = false;                 // a library or kernel that did not have to be compiled
};

struct Events {
  std::vector<Event> events;     // oldest first
  std::uint64_t dispatches = 0;  // all of them, also those that are no longer among the events
};

void record(bool on);
bool is_recording();
// All since the last call.
Events take_events();
// Kernels of the package's own operators of PyTorch are no kernels of the program's and are not among its events; how
// often each was dispatched since the last call, by name.
std::map<std::string, std::uint64_t> take_operator_dispatches();

}  // namespace metalloid
