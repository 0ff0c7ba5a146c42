// Stops dispatches that run longer than they may. One thread watches all of them.
#pragma once

#include <chrono>

#include "support/crash_guard.h"

namespace metalloid::engines::host {

// While it lives, the token's threads are stopped once the time is over. A limit of zero is none.
class Watch {
 public:
  Watch(support::StopToken& token, std::chrono::milliseconds limit);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  friend class Watchdog;
  using Clock = std::chrono::steady_clock;
  support::StopToken& token_;
  Clock::time_point deadline_;
  bool watched_ = false;
  Watch* next_ = nullptr;
  Watch* previous_ = nullptr;
};

}  // namespace metalloid::engines::host
