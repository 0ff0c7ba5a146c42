// A trace of what is compiled and dispatched, and how long it takes, for chrome://tracing and ui.perfetto.dev.
//
// With METALLOID_TRACE=FILE in the environment a process traces from its start to its end. The file is valid JSON (an
// array of events in Chrome's trace format) at every moment, however the process ends. Each process writes a file of
// its own: one that finds FILE in use by another, or is a fork of one that traces, puts its number before the
// extension (trace.json, trace.4711.json). Times are of the machine's monotonic clock, the same in all processes.
#pragma once

#include <filesystem>
#include <optional>

namespace metalloid {

// Ends the trace that is being written, if there is one, and begins another. Throws input_output.
void start_trace(const std::filesystem::path& file);
void stop_trace();
// The file that is being written to, or will be with the first event.
std::optional<std::filesystem::path> trace_file();

}  // namespace metalloid
