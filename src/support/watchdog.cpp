#include "support/watchdog.h"

#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>

#include "support/fork_safe_mutex.h"

namespace metalloid::support {

namespace {

ForkSafeMutex& watchdog_mutex = *new ForkSafeMutex;

}  // namespace

class Watchdog {
 public:
  // Made when the library is loaded (fork_safe_mutex.h says why), and never destroyed: dispatches of detached threads
  // may outlive main().
  static Watchdog& instance() { return *only_; }

  void add(WatchdogTimer& timer) {
    std::lock_guard lock(mutex_);
    if (!started_) start();
    timer.earlier_interrupts_ = interrupts_.load(std::memory_order_acquire);
    timer.next_ = first_;
    if (first_) first_->previous_ = &timer;
    first_ = &timer;
    // The usual timer ends long before its deadline and the next one's lies later still, so that the thread's last
    // alarm serves for many dispatches and starting one wakes nobody.
    if (timer.deadline_ < alarm_) {
      alarm_ = timer.deadline_;
      ::sem_post(&wake_);
    }
  }

  // Nothing but what a signal handler may do.
  void interrupt() {
    const int saved = errno;
    interrupts_.fetch_add(1, std::memory_order_release);
    ::sem_post(&wake_);
    errno = saved;
  }

  void remove(WatchdogTimer& timer) {
    std::lock_guard lock(mutex_);
    if (timer.previous_) {
      timer.previous_->next_ = timer.next_;
    } else {
      first_ = timer.next_;
    }
    if (timer.next_) timer.next_->previous_ = timer.previous_;
  }

 private:
  using Clock = WatchdogTimer::Clock;
  static constexpr auto retry = std::chrono::milliseconds(5);

  Watchdog() {
    ::sem_init(&wake_, 0, 0);
    // A forked child has no watchdog thread; it starts its own at its first dispatch.
    ::pthread_atfork(nullptr, nullptr, [] { instance().after_fork(); });
  }

  void start() {
    seen_interrupts_ = interrupts_.load(std::memory_order_acquire);
    std::thread([this] { watch_forever(); }).detach();
    started_ = true;
  }

  void after_fork() {
    ::sem_init(&wake_, 0, 0);
    started_ = false;
    first_ = nullptr;
    alarm_ = Clock::time_point::max();
  }

  void watch_forever() {
    std::unique_lock lock(mutex_);
    while (true) {
      if (const unsigned interrupts = interrupts_.load(std::memory_order_acquire); interrupts != seen_interrupts_) {
        seen_interrupts_ = interrupts;
        for (WatchdogTimer* timer = first_; timer; timer = timer->next_) {
          if (timer->earlier_interrupts_ == interrupts) continue;
          timer->interrupted_.store(true, std::memory_order_relaxed);
          timer->deadline_ = alarm_ = Clock::time_point::min();
        }
      }
      if (Clock::time_point now = Clock::now(); now >= alarm_) {
        alarm_ = Clock::time_point::max();
        for (WatchdogTimer* timer = first_; timer; timer = timer->next_) {
          bool over = timer->deadline_ <= now;
          if (over && !timer->interrupted()) {
            if (const auto left = timer->time_left(); left > Clock::duration::zero()) {
              timer->deadline_ = now + std::max<Clock::duration>(left, retry);
              over = false;
            }
          }
          if (over) timer->stop_();
          alarm_ = std::min(alarm_, over ? now + retry : timer->deadline_);
        }
      }
      const Clock::time_point until = alarm_;
      lock.unlock();
      sleep_until(until);
      lock.lock();
    }
  }

  // Or until somebody posts. Waking early does no harm.
  void sleep_until(Clock::time_point until) {
    if (until == Clock::time_point::max()) {
      ::sem_wait(&wake_);
      return;
    }
    const auto since = until.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    const timespec time{static_cast<std::time_t>(seconds.count()),
                        static_cast<long>(std::chrono::nanoseconds(since - seconds).count())};
    ::sem_clockwait(&wake_, CLOCK_MONOTONIC, &time);  // steady_clock's
  }

  static Watchdog* const only_;
  ForkSafeMutex& mutex_ = watchdog_mutex;
  sem_t wake_;  // a semaphore, for signal handlers may post one
  std::atomic<unsigned> interrupts_{0};
  unsigned seen_interrupts_ = 0;
  WatchdogTimer* first_ = nullptr;
  Clock::time_point alarm_ = Clock::time_point::max();
  bool started_ = false;
};

Watchdog* const Watchdog::only_ = new Watchdog;

static std::chrono::nanoseconds now_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

WatchdogTimer::WatchdogTimer(StopToken& token, std::chrono::milliseconds limit)
    : WatchdogTimer([&token] { token.request_stop(); }, limit) {}

WatchdogTimer::WatchdogTimer(std::function<void()> stop, std::chrono::milliseconds limit)
    : stop_(std::move(stop)), limit_(limit) {
  // A limit beyond the clock's range is none.
  if (limit.count() > 0 && limit <= std::chrono::hours(24 * 365)) deadline_ = Clock::now() + limit;
  Watchdog::instance().add(*this);
}

void WatchdogTimer::count_processor_time() {
  clockid_t clock = 0;
  if (::pthread_getcpuclockid(::pthread_self(), &clock) != 0) return;
  thread_end_ = now_of(clock) + limit_;
  thread_clock_.store(clock, std::memory_order_release);  // not under the mutex: the thread may be stopped here
}

WatchdogTimer::Clock::duration WatchdogTimer::time_left() const {
  const clockid_t clock = thread_clock_.load(std::memory_order_acquire);
  return clock == 0 ? Clock::duration::zero() : thread_end_ - now_of(clock);
}

WatchdogTimer::~WatchdogTimer() { Watchdog::instance().remove(*this); }

void interrupt_watched() noexcept { Watchdog::instance().interrupt(); }

}  // namespace metalloid::support
