#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "metalloid/error.h"
#include "metalloid/queue.h"
#include "support/watchdog.h"

namespace metalloid {

struct SharedEvent::State {
  struct Listener {
    std::uint64_t value;
    std::function<void(std::uint64_t)> function;
  };

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t value = 0;
  std::vector<Listener> listeners;
};

SharedEvent::SharedEvent() : state_(std::make_shared<State>()) {}

std::uint64_t SharedEvent::value() const {
  const std::lock_guard lock(state_->mutex);
  return state_->value;
}

void SharedEvent::signal(std::uint64_t value) const {
  std::vector<State::Listener> called;
  {
    const std::lock_guard lock(state_->mutex);
    state_->value = value;
    const auto waiting = std::stable_partition(state_->listeners.begin(), state_->listeners.end(),
                                               [&](const State::Listener& each) { return each.value <= value; });
    called.assign(std::make_move_iterator(state_->listeners.begin()), std::make_move_iterator(waiting));
    state_->listeners.erase(state_->listeners.begin(), waiting);
  }
  state_->changed.notify_all();
  for (const State::Listener& each : called) each.function(value);
}

bool SharedEvent::wait(std::uint64_t value, std::chrono::milliseconds patience) const {
  std::atomic<bool> is_interrupted{false};
  const auto state = state_;
  // Made before the mutex is taken and gone after it is free: the watching thread takes it inside of its own.
  const support::WatchdogTimer timer(
      [&] {
        is_interrupted = true;
        {
          const std::lock_guard lock(state->mutex);
        }
        state->changed.notify_all();
      },
      std::chrono::milliseconds(0));
  const auto is_over = [&] { return state->value >= value || is_interrupted; };
  std::unique_lock lock(state->mutex);
  if (patience == std::chrono::milliseconds::max()) {
    state->changed.wait(lock, is_over);
  } else {
    state->changed.wait_for(lock, patience, is_over);
  }
  if (state->value >= value) return true;
  if (is_interrupted) throw Error(ErrorCode::kernel_interrupted, "a wait for an event was interrupted");
  return false;
}

void SharedEvent::notify(std::uint64_t value, std::function<void(std::uint64_t)> function) const {
  std::uint64_t present = 0;
  {
    const std::lock_guard lock(state_->mutex);
    present = state_->value;
    if (present < value) return state_->listeners.push_back({value, std::move(function)});
  }
  function(present);
}

}  // namespace metalloid
