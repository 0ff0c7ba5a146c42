#include "engines/host/watchdog.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace metalloid::engines::host {

class Watchdog {
 public:
  // Never destroyed: dispatches of detached threads may outlive main().
  static Watchdog& instance() {
    static Watchdog* only = new Watchdog;
    return *only;
  }

  void add(Watch& watch) {
    std::lock_guard lock(mutex_);
    if (!started_) start();
    watch.next_ = first_;
    if (first_) first_->previous_ = &watch;
    first_ = &watch;
    // The usual watch ends long before its deadline and the next one's lies later still, so that the thread's last
    // alarm serves for many dispatches and starting one wakes nobody.
    if (watch.deadline_ < alarm_) {
      alarm_ = watch.deadline_;
      wake_.notify_one();
    }
  }

  void remove(Watch& watch) {
    std::lock_guard lock(mutex_);
    if (watch.previous_) {
      watch.previous_->next_ = watch.next_;
    } else {
      first_ = watch.next_;
    }
    if (watch.next_) watch.next_->previous_ = watch.previous_;
  }

 private:
  using Clock = Watch::Clock;
  static constexpr auto retry = std::chrono::milliseconds(5);

  void start() {
    started_ = true;
    static const bool registered = [] {
      // A forked child has no watchdog thread; it starts its own at its first dispatch.
      ::pthread_atfork(nullptr, nullptr, [] { instance().after_fork(); });
      return true;
    }();
    (void)registered;
    std::thread([this] { watch_forever(); }).detach();
  }

  void after_fork() {
    new (&mutex_) std::mutex;
    new (&wake_) std::condition_variable;
    started_ = false;
    first_ = nullptr;
    alarm_ = Clock::time_point::max();
  }

  void watch_forever() {
    std::unique_lock lock(mutex_);
    while (true) {
      if (Clock::time_point now = Clock::now(); now >= alarm_) {
        alarm_ = Clock::time_point::max();
        for (Watch* watch = first_; watch; watch = watch->next_) {
          bool over = watch->deadline_ <= now;
          if (over) watch->token_.request_stop();
          alarm_ = std::min(alarm_, over ? now + retry : watch->deadline_);
        }
      }
      if (alarm_ == Clock::time_point::max()) {
        wake_.wait(lock);
      } else {
        wake_.wait_until(lock, alarm_);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  Watch* first_ = nullptr;
  Clock::time_point alarm_ = Clock::time_point::max();
  bool started_ = false;
};

Watch::Watch(support::StopToken& token, std::chrono::milliseconds limit) : token_(token) {
  if (limit.count() <= 0) return;
  Clock::time_point now = Clock::now();
  // A limit beyond the clock's range is none.
  if (limit > std::chrono::hours(24 * 365)) return;
  deadline_ = now + limit;
  watched_ = true;
  Watchdog::instance().add(*this);
}

Watch::~Watch() {
  if (watched_) Watchdog::instance().remove(*this);
}

}  // namespace metalloid::engines::host
