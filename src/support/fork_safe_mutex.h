// A mutex that a forked child never finds locked.
#pragma once

#include <mutex>

namespace metalloid::support {

// For what threads share, most of it in objects that live as long as the process. A plain mutex that another thread
// holds during fork() stays locked in the child for ever. fork() waits until nobody holds any of these, so that the
// child finds what they guard whole. Those of long-lived objects are made when the library is loaded: a function's
// static variable has a lock of its own, and a thread that makes it waits for a fork under way. Holders take no second
// one and call nothing that may take one or fork.
class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct AllForkSafeMutexes;
  std::mutex mutex_;
  ForkSafeMutex *previous_ = nullptr, *next_ = nullptr;
};

}  // namespace metalloid::support
