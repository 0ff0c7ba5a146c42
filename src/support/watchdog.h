// Stops dispatches and compiles that run longer than they may, and all that run when somebody asks for it. One thread
// watches all.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>

#include "support/crash_guard.h"

namespace metalloid::support {

// While it lives, the token's threads are stopped once the time is over, or by interrupt_watched(). A limit of zero is
// none.
class WatchdogTimer {
 public:
  WatchdogTimer(StopToken& token, std::chrono::milliseconds limit);
  // Stops something else. The function is called by the watching thread, again and again until the timer is gone.
  WatchdogTimer(std::function<void()> stop, std::chrono::milliseconds limit);
  ~WatchdogTimer();
  WatchdogTimer(const WatchdogTimer&) = delete;
  WatchdogTimer& operator=(const WatchdogTimer&) = delete;

  // From now on the limit is one of the calling thread's processor time. The thread outlives the timer, or is stopped.
  void count_processor_time();

  // Whether the stop came from interrupt_watched(). To be asked once the token's threads have ended.
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

 private:
  friend class Watchdog;
  using Clock = std::chrono::steady_clock;
  // Of the thread, how much is left; zero if the limit is of time that passes.
  Clock::duration time_left() const;
  const std::function<void()> stop_;
  Clock::time_point deadline_ = Clock::time_point::max();
  const std::chrono::milliseconds limit_;
  Clock::duration thread_end_{};            // set before
  std::atomic<clockid_t> thread_clock_{0};  // 0: none
  std::atomic<bool> interrupted_{false};
  unsigned earlier_interrupts_ = 0;  // which are not meant for it
  WatchdogTimer* next_ = nullptr;
  WatchdogTimer* previous_ = nullptr;
};

// Stops every dispatch and compile that runs now. May be called from signal handlers.
void interrupt_watched() noexcept;

}  // namespace metalloid::support
