// The cores that a dispatch is divided over.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace metalloid::engines::cpu {

// Whether oneTBB's threads can be asked.
bool may_use_other_cores();

// The workers of other cores that one dispatch has asked for help.
//
// Linux may put the worker that is woken on the core of the thread that wakes it. There it waits until that thread has
// done all of the work alone, and since it sleeps again at once, the next dispatch finds it where it was; or the two
// take turns for milliseconds. So the thread that dispatches, when it has worked for a while and nobody has come, goes
// to another core and leaves the worker its own, and a worker that finds itself beside it goes to another one.
class Help {
 public:
  Help() : asked_by_(std::this_thread::get_id()), asked_(Clock::now()) {}
  // By each thread that works, before a piece of the work.
  void look();
  // By the thread that has asked, at the end.
  void thank() const;

 private:
  using Clock = std::chrono::steady_clock;
  const std::thread::id asked_by_;
  const Clock::time_point asked_;
  std::atomic<bool> came_{false};
  std::atomic<int> core_{-1};  // of the thread that has asked
  bool has_looked_ = false;    // of the thread that has asked
};

}  // namespace metalloid::engines::cpu
