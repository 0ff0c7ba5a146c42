// The last events of the process.
#include "runtime/observe/recorder.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <string_view>
#include <utility>

#include "support/fork_safe_mutex.h"
#include "support/made_once.h"

namespace metalloid {
namespace {

constexpr std::size_t capacity = 1000;

struct Recorder {
  std::atomic<bool> on;
  support::ForkSafeMutex mutex;
  std::deque<Event> events;
  std::uint64_t dispatches = 0;
  std::map<std::string, std::uint64_t> operator_dispatches;
  std::string folder;  // to write the number of dispatches to; empty: nobody asked

  Recorder();
};

Recorder& recorder() {
  static constinit support::MadeOnce<Recorder> made;  // other threads may run kernels until the very end
  return made.get([] { return Recorder(); });
}

// Operators of PyTorch that the package has Metal kernels for (torch_mps/operators) are no kernels of the
// program's: who asks what a test ran wants its own. Their sources name their files in the first line.
bool is_operator_of_ours(const Event& event) {
  if (!event.source || !event.source->text.starts_with("#line 1 \"")) return false;
  const std::string_view line = std::string_view(event.source->text).substr(0, event.source->text.find('\n'));
  return line.find("/torch_mps/operators/kernels/") != std::string_view::npos;
}

void write_count() {
  Recorder& all = recorder();
  std::lock_guard lock(all.mutex);
  if (all.folder.empty() || all.dispatches == 0) return;
  std::ofstream(all.folder + "/" + std::to_string(getpid())) << all.dispatches;
}

void add_event(Event event) {
  Recorder& all = recorder();
  std::lock_guard lock(all.mutex);
  if (!event.error && is_operator_of_ours(event)) {
    ++all.operator_dispatches[event.kernel];
    return;
  }
  if (event.kind == Event::Kind::dispatch && !is_operator_of_ours(event)) ++all.dispatches;
  if (all.events.size() == capacity) all.events.pop_front();
  all.events.push_back(std::move(event));
}

Recorder::Recorder() {
  const char* variable = std::getenv("METALLOID_RECORD");
  const std::string_view wish = variable == nullptr ? "" : variable;
  on = wish == "1" || wish.starts_with('/');
  if (!wish.starts_with('/')) return;
  folder = wish;
  std::atexit(write_count);
}

}  // namespace

void record(bool on) {
  Recorder& all = recorder();
  std::lock_guard lock(all.mutex);
  all.on = on;
  all.folder.clear();
}

bool is_recording() { return recorder().on.load(std::memory_order_relaxed); }

Events take_events() {
  Recorder& all = recorder();
  std::lock_guard lock(all.mutex);
  Events result;
  result.events.assign(std::make_move_iterator(all.events.begin()), std::make_move_iterator(all.events.end()));
  result.dispatches = std::exchange(all.dispatches, 0);
  all.events.clear();
  return result;
}

std::map<std::string, std::uint64_t> take_operator_dispatches() {
  Recorder& all = recorder();
  std::lock_guard lock(all.mutex);
  return std::exchange(all.operator_dispatches, {});
}

void runtime::tell(Event event, TraceClock::time_point begin, TraceClock::time_point end,
                   const std::exception_ptr& error) {
  if (error) {
    try {
      std::rethrow_exception(error);
    } catch (const Error& failure) {
      event.error = failure.code();
      event.message = failure.what();
    } catch (...) {
      return;  // none of ours
    }
  }
  if (is_tracing()) add_to_trace(event, begin, end);
  // Of what went well, only dispatches are kept.
  if (is_recording() && (event.error || event.kind == Event::Kind::dispatch)) add_event(std::move(event));
}

}  // namespace metalloid
